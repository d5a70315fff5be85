/** The effects of a change of a shared policy, before it is saved: recorded requests of all its shares that it decides differently. */
import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { Dialog } from '../../parts/dialog.tsx';
import type { SentChange } from '../../parts/edit-form.tsx';
import { Problem } from '../../parts/problem.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { questionText } from '../access/question-text.ts';
import { ChangedFields, Different } from '../access/review-dialog.tsx';
import { policiesText } from './policies-text.ts';

type Comparison = AnswerOf<'comparePolicy'>;

export function PolicyReview(props: {
  /** Names of the fields that differ from what is stored. */
  readonly changed: readonly string[];
  readonly comparison: Comparison | undefined;
  readonly save: SentChange;
  readonly onClose: () => void;
  readonly onSave: () => void;
}): ReactNode {
  const [text, own] = [useText(questionText), useText(policiesText)];
  const { save, comparison } = props;
  return (
    <Dialog title={text.reviewTitle} isOpen onClose={props.onClose} size="xl">
      {save.error === null ? null : <Problem error={save.error} />}
      <ChangedFields names={props.changed} />
      {comparison === undefined ? null : <ComparisonView comparison={comparison} />}
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={props.onClose}>
          {text.back}
        </Button>
        <Button loading={save.isPending} onClick={props.onSave} data-autofocus>
          {own.save}
        </Button>
      </Group>
    </Dialog>
  );
}

function ComparisonView({
  comparison: { shareCount, comparedShares, compared, unknown, shares },
}: {
  readonly comparison: Comparison;
}): ReactNode {
  const [text, own, format] = [useText(questionText), useText(policiesText), useFormat()];
  if (shareCount === 0) return <p>{own.reviewNoShares}</p>;
  const different = shares.flatMap(({ token, different: each }) => each.map((one) => ({ token, ...one })));
  const shown = format.number(comparedShares);
  const part =
    comparedShares === shareCount ? null : <p>{own.reviewPart(shown, format.number(shareCount))}</p>;
  if (compared === 0)
    return (
      <>
        <p>{own.reviewNone(comparedShares, shown)}</p>
        {part}
      </>
    );
  return (
    <>
      <p>{own.reviewBasis(compared, format.number(compared), comparedShares, shown)}</p>
      {part}
      <p className="fd-wrap">
        {different.length === 0 ? (
          <StateBadge tone="good">{text.reviewSame}</StateBadge>
        ) : (
          <StateBadge tone="warn">
            {text.reviewDifferent(different.length, format.number(different.length))}
          </StateBadge>
        )}
      </p>
      {different.length === 0 ? null : <Different different={different} />}
      {unknown === 0 ? null : <p>{text.reviewUnknown(unknown, format.number(unknown))}</p>}
      <p className="fd-soft fd-small">{text.reviewLimits}</p>
    </>
  );
}
