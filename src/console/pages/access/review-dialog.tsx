/** The effects of a change of access, before it is saved: the fields, recorded requests that it decides differently, the last question. */
import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { PolicyComparisonAnswer } from '#contract/schemas';
import { Dialog } from '../../parts/dialog.tsx';
import type { SentChange } from '../../parts/edit-form.tsx';
import { Problem } from '../../parts/problem.tsx';
import { RowTable } from '../../parts/simple-table.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { isSameVerdict, VerdictView } from './explanation-view.tsx';
import { questionText } from './question-text.ts';
import type { Explanations } from './use-explanations.ts';
import type { Review } from './use-review.ts';

export function ReviewDialog(props: {
  readonly review: Review;
  /** Names of the fields that differ from what is stored. */
  readonly changed: readonly string[];
  readonly explanations: Explanations;
  readonly save: SentChange;
  readonly submit: string;
  readonly onSave: () => void;
}): ReactNode {
  const text = useText(questionText);
  const { review, changed, save } = props;
  return (
    <Dialog title={text.reviewTitle} isOpen={review.isOpen} onClose={review.close} size="xl">
      {save.error === null ? null : <Problem error={save.error} />}
      <ChangedFields names={changed} />
      {review.comparison === undefined ? null : <Comparison comparison={review.comparison} />}
      <AskedBefore explanations={props.explanations} />
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={review.close}>
          {text.back}
        </Button>
        <Button loading={save.isPending} onClick={props.onSave} data-autofocus>
          {props.submit}
        </Button>
      </Group>
    </Dialog>
  );
}

/** Which fields a change is about. */
export function ChangedFields({ names }: { readonly names: readonly string[] }): ReactNode {
  const [text, format] = [useText(questionText), useFormat()];
  return (
    <p>
      {text.reviewFields(names.length, format.number(names.length))}{' '}
      <strong>{names.map((name) => text.fieldNames(name)).join(', ')}</strong>
    </p>
  );
}

function Comparison({ comparison }: { readonly comparison: PolicyComparisonAnswer }): ReactNode {
  const [text, format] = [useText(questionText), useFormat()];
  const { compared, unknown, since, different } = comparison;
  if (compared === 0 || since === null) return <p>{text.reviewNone}</p>;
  return (
    <>
      <p>{text.reviewBasis(compared, format.number(compared), format.dateTime(Date.parse(since)))}</p>
      {different.length === 0 ? (
        <p className="fd-wrap">
          <StateBadge tone="good">{text.reviewSame}</StateBadge>
        </p>
      ) : (
        <>
          <p className="fd-wrap">
            <StateBadge tone="warn">
              {text.reviewDifferent(different.length, format.number(different.length))}
            </StateBadge>
          </p>
          <Different different={different} />
        </>
      )}
      {unknown === 0 ? null : <p>{text.reviewUnknown(unknown, format.number(unknown))}</p>}
      <p className="fd-soft fd-small">{text.reviewLimits}</p>
    </>
  );
}

type Difference = PolicyComparisonAnswer['different'][number] & { readonly token?: string };

/** Recorded requests that are decided differently; with the token of its share, if they are those of several. */
export function Different({ different }: { readonly different: readonly Difference[] }): ReactNode {
  const text = useText(questionText);
  const hasShares = different.some(({ token }) => token !== undefined);
  return (
    <RowTable
      isLow
      label={text.reviewTitle}
      rows={different}
      keyOf={({ token = '', id }) => `${token} ${id}`}
      columns={[
        ...(hasShares ? [{ title: text.share, cell: ({ token }: Difference) => token }] : []),
        { title: text.when, cell: ({ at }) => <TimeAgo at={at} /> },
        { title: text.request, cell: ({ method, host, path }) => `${method} ${host}${path}`, isMono: true },
        {
          title: text.who,
          cell: ({ identity, client }) => (
            <>
              {identity === null ? null : <div>{identity}</div>}
              <span className="fd-mono">{client}</span>
            </>
          ),
        },
        { title: text.before, cell: ({ before }) => <VerdictView verdict={before} /> },
        { title: text.after, cell: ({ after }) => <VerdictView verdict={after} /> },
      ]}
    />
  );
}

function AskedBefore({ explanations: { now, draft } }: { readonly explanations: Explanations }): ReactNode {
  const text = useText(questionText);
  if (now === undefined || draft === undefined) return null;
  return (
    <section aria-label={text.reviewQuestion}>
      <h3 className="fd-h3">{text.reviewQuestion}</h3>
      <p>{isSameVerdict(now, draft) ? text.keepsDecision : text.changesDecision}</p>
      <p>
        {text.before}: <VerdictView verdict={now} />
      </p>
      <p>
        {text.after}: <VerdictView verdict={draft} />
      </p>
    </section>
  );
}
