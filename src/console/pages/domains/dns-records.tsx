/** The DNS records that a domain needs, with what DNS answers now, which is looked up when the page is opened. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useProgram } from '../../api/program.tsx';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { DnsRecordTable } from './dns-record-table.tsx';
import { domainsText } from './domains-text.ts';

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
            <DnsRecordTable label={text.records} records={records} />
            <p className="fd-soft fd-small" role="status">
              {text.checkedAt} <TimeAgo at={checkedAt} />
            </p>
          </>
        )}
      </AnswerView>
    </Panel>
  );
}
