/** DNS records to copy, and the present answer of DNS about each that was checked. */
import type { ReactNode } from 'react';
import type { DnsCheckAnswer, DnsRecordAnswer } from '#contract/schemas';
import { CopyText } from '../../parts/copy-text.tsx';
import { RowTable } from '../../parts/simple-table.tsx';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { domainsText } from './domains-text.ts';

const TONES: Readonly<Record<string, Tone>> = {
  correct: 'good',
  missing: 'soft',
  different: 'bad',
  unknown: 'warn',
};

export function DnsRecordTable(props: {
  readonly label: string;
  readonly records: readonly (DnsRecordAnswer | DnsCheckAnswer)[];
}): ReactNode {
  const text = useText(domainsText);
  return (
    <RowTable
      label={props.label}
      rows={props.records}
      keyOf={({ type, name }) => `${type} ${name}`}
      columns={[
        { title: text.recordType, cell: ({ type }) => type },
        { title: text.recordName, cell: ({ name }) => <CopyText value={name} /> },
        { title: text.recordValue, cell: ({ value }) => <CopyText value={value} /> },
        {
          title: text.seen,
          cell: (record) =>
            'state' in record ? (
              <Seen record={record} />
            ) : (
              <span className="fd-small fd-soft">{text.notChecked}</span>
            ),
        },
      ]}
    />
  );
}

function Seen({
  record: { state, found, lookedUp, problem },
}: {
  readonly record: DnsCheckAnswer;
}): ReactNode {
  const text = useText(domainsText);
  return (
    <>
      <StateBadge tone={TONES[state] ?? 'warn'}>{text.seenStates(state)}</StateBadge>
      {found.length === 0 ? null : <div className="fd-small fd-mono">{text.found(found.join(', '))}</div>}
      {problem === null ? null : <div className="fd-small fd-bad">{problem}</div>}
      <div className="fd-small fd-soft fd-mono">{text.lookedUp(lookedUp)}</div>
    </>
  );
}
