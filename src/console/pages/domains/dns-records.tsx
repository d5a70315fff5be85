/** The DNS records that a domain needs, to copy, and the present answer of DNS about each. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import type { DnsCheckAnswer } from '#contract/schemas';
import { useProgram } from '../../api/program.tsx';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { RowTable } from '../../parts/simple-table.tsx';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { domainsText } from './domains-text.ts';

const TONES: Readonly<Record<string, Tone>> = {
  correct: 'good',
  missing: 'soft',
  different: 'bad',
  unknown: 'warn',
};

export function DnsRecords({ id }: { readonly id: string }): ReactNode {
  const text = useText(domainsText);
  const answer = useAnswer('checkDnsRecords', {
    parameters: { frontdoorId: useFrontdoorId(), customFrontendId: id },
  });
  const { clock } = useProgram().api;
  const { dataUpdatedAt: atMs } = answer;
  const checkedAt = atMs === 0 ? undefined : new Date(clock.timeOf(atMs)).toISOString();
  return (
    <Panel
      title={text.records}
      actions={
        <Button size="xs" variant="default" loading={answer.isFetching} onClick={() => void answer.refetch()}>
          {text.checkAgain}
        </Button>
      }
    >
      <p className="fd-soft">{text.recordsIntro}</p>
      <AnswerView answer={answer}>
        {({ body: records }) => (
          <>
            <RowTable
              label={text.records}
              rows={records}
              keyOf={({ type, name }) => `${type} ${name}`}
              columns={[
                { title: text.recordType, cell: ({ type }) => type },
                { title: text.recordName, cell: ({ name }) => <CopyText value={name} /> },
                { title: text.recordValue, cell: ({ value }) => <CopyText value={value} /> },
                { title: text.seen, cell: (record) => <Seen record={record} /> },
              ]}
            />
            <p className="fd-soft fd-small" role="status">
              {text.checkedAt} <TimeAgo at={checkedAt} />
            </p>
          </>
        )}
      </AnswerView>
    </Panel>
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
