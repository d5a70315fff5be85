/** A decision about a request, and each rule that led to it. */
import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AccessExplanationAnswer } from '#contract/schemas';
import { ApiText } from '../../parts/api-text.tsx';
import { Icon } from '../../parts/icon.tsx';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { questionText } from './question-text.ts';

const TONES: Readonly<Record<string, Tone>> = {
  allow: 'good',
  login: 'soft',
  unauthenticated: 'bad',
  refuse: 'bad',
  unavailable: 'warn',
};
const SIGNS = { passed: 'check', decided: 'arrow', skipped: 'dash' } as const;

type Verdict = Pick<AccessExplanationAnswer, 'decision' | 'status' | 'reason'>;

export function VerdictView({
  verdict: { decision, status, reason },
}: {
  readonly verdict: Verdict;
}): ReactNode {
  const text = useText(questionText);
  const code = status === null ? reason : `${text.status(String(status))}, ${reason}`;
  return (
    <>
      <StateBadge tone={TONES[decision] ?? 'warn'}>{text.decisions(decision)}</StateBadge>{' '}
      <span className="fd-soft fd-small">({code})</span>
    </>
  );
}

export function ExplanationView({
  title,
  explanation,
}: {
  readonly title: string;
  readonly explanation: AccessExplanationAnswer;
}): ReactNode {
  const text = useText(questionText);
  return (
    <section aria-label={title}>
      <h3 className="fd-h3">{title}</h3>
      <p className="fd-wrap">
        <VerdictView verdict={explanation} />
      </p>
      <div className="fd-scroll" tabIndex={0} role="region" aria-label={`${title}: ${text.rule}`}>
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{text.rule}</Table.Th>
              <Table.Th>{text.outcome}</Table.Th>
              <Table.Th>{text.detail}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {explanation.steps.map(({ rule, outcome, detail }, at) => (
              <Table.Tr key={at} fw={outcome === 'decided' ? 600 : 400}>
                <Table.Td>{text.rules(rule)}</Table.Td>
                <Table.Td>
                  <span className="fd-state">
                    <Icon name={SIGNS[outcome] ?? 'more'} />
                    <span>{text.outcomes(outcome)}</span>
                  </span>
                </Table.Td>
                <Table.Td>
                  <ApiText>{detail}</ApiText>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </section>
  );
}

export function isSameVerdict(one: Verdict, other: Verdict): boolean {
  return one.decision === other.decision && one.status === other.status;
}
