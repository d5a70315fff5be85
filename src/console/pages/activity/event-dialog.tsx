/** One event of the audit trail, with the difference that it made. */
import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AuditEventAnswer } from '#contract';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/page-title.tsx';
import { ExactTime } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { ActorName } from './actor-name.tsx';
import { activityText } from './activity-text.ts';
import { eventDifference } from './event-difference.ts';

export function EventDialog({
  event,
  onClose,
}: {
  readonly event: AuditEventAnswer;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(activityText);
  const differences = eventDifference(event.before, event.after);
  return (
    <Dialog title={event.action} isOpen onClose={onClose} size="xl" closesOutside>
      <Facts
        facts={[
          [text.when, <ExactTime key="at" at={event.at} />],
          [text.who, <ActorName key="who" actor={event.actor} />],
          ...(event.target === null
            ? []
            : [
                [
                  text.target,
                  <span key="target" className="fd-mono">{`${event.target.kind} ${event.target.id}`}</span>,
                ] as const,
              ]),
          ...(event.reason === null ? [] : [[text.reason, event.reason] as const]),
          [text.sequence, String(event.sequence)],
        ]}
      />
      {differences.length === 0 ? (
        <p className="fd-soft">{text.noFields}</p>
      ) : (
        <div className="fd-scroll" tabIndex={0} role="region" aria-label={text.change}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{text.field}</Table.Th>
                <Table.Th>{text.before}</Table.Th>
                <Table.Th>{text.after}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {differences.map(({ field, before, after }) => (
                <Table.Tr key={field}>
                  <Table.Td className="fd-mono">{field}</Table.Td>
                  <Table.Td className="fd-mono">{before === undefined ? null : <del>{before}</del>}</Table.Td>
                  <Table.Td className="fd-mono">{after === undefined ? null : <ins>{after}</ins>}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
    </Dialog>
  );
}
