/** One event of the audit trail, with the difference that it made. */
import type { ReactNode } from 'react';
import type { AuditEventAnswer } from '#contract/schemas';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/page-title.tsx';
import { RowTable } from '../../parts/simple-table.tsx';
import { ExactTime } from '../../parts/time-ago.tsx';
import { useLanguage, useText } from '../../text/language.tsx';
import { activityText } from './activity-text.ts';
import { actionText } from './action-text.ts';
import { ActorName } from './actor-name.tsx';
import { eventDifference } from './event-difference.ts';

export function EventDialog({
  event,
  onClose,
}: {
  readonly event: AuditEventAnswer;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(activityText);
  const { language } = useLanguage();
  const differences = eventDifference(event.before, event.after);
  return (
    <Dialog title={actionText(event.action, language)} isOpen onClose={onClose} size="xl" closesOutside>
      <Facts
        facts={[
          [
            text.what,
            <span key="action" className="fd-mono">
              {event.action}
            </span>,
          ],
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
        <RowTable
          label={text.change}
          rows={differences}
          keyOf={({ field }) => field}
          columns={[
            { title: text.field, cell: ({ field }) => field, isMono: true },
            {
              title: text.before,
              cell: ({ before }) => (before === undefined ? null : <del>{before}</del>),
              isMono: true,
            },
            {
              title: text.after,
              cell: ({ after }) => (after === undefined ? null : <ins>{after}</ins>),
              isMono: true,
            },
          ]}
        />
      )}
    </Dialog>
  );
}
