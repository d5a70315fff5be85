/** What people and programs changed last, with the author. Sign-ins and refused attempts are left to the activity log. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { ActionName } from '../activity/action-name.tsx';
import { ActorName } from '../activity/actor-name.tsx';
import { nameIn } from '../activity/event-difference.ts';
import { isResourceChange } from './resource-change.ts';
import { overviewText } from './overview-text.ts';

const SHOWN = 5;
/** Among these are the ones that are shown. */
const READ = 25;

export function LatestChanges(): ReactNode {
  const text = useText(overviewText);
  const answer = useAnswer('listAuditEvents', { query: { result: 'ok', size: READ } });
  return (
    <Panel title={text.changes}>
      <div className="fd-reserve-rows">
        <AnswerView answer={answer}>
          {({ body }) => {
            const events = body.content.filter(isResourceChange).slice(0, SHOWN);
            return (
              <>
                {events.length === 0 ? <p className="fd-soft">{text.noChanges}</p> : null}
                <ul className="fd-plain">
                  {events.map(({ id, at, actor, action, target, before, after }) => (
                    <li key={id}>
                      <Link to="/activity" search={{ targetId: target.id }}>
                        <ActionName action={action} />
                      </Link>{' '}
                      {nameIn(after, before) ?? <span className="fd-mono fd-small">{target.id}</span>}{' '}
                      <span className="fd-soft fd-small">
                        <ActorName actor={actor} />, <TimeAgo at={at} />
                      </span>
                    </li>
                  ))}
                </ul>
                <Link to="/activity">{text.allChanges}</Link>
              </>
            );
          }}
        </AnswerView>
      </div>
    </Panel>
  );
}
