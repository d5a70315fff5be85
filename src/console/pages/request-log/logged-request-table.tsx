/** Rows of the request log, the newest first. */
import { UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { LoggedRequestAnswer } from '#contract/schemas';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { RowTable } from '../../parts/simple-table.tsx';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { requestLogText } from './request-log-text.ts';

const TONES: Readonly<Record<string, Tone>> = { served: 'good', refused: 'warn', 'client-gone': 'soft' };

export function Outcome({ outcome }: { readonly outcome: string }): ReactNode {
  const text = useText(requestLogText);
  return <StateBadge tone={TONES[outcome] ?? 'bad'}>{text.outcomeName(outcome)}</StateBadge>;
}

export function LoggedRequestTable(props: {
  readonly rows: readonly LoggedRequestAnswer[];
  readonly onOpen: (id: string) => void;
}): ReactNode {
  const [text, format, frontdoorId] = [useText(requestLogText), useFormat(), useFrontdoorId()];
  return (
    <RowTable
      label={text.requests}
      rows={props.rows}
      keyOf={({ id }) => id}
      columns={[
        { title: text.when, cell: ({ at }) => <TimeAgo at={at} /> },
        { title: text.outcome, cell: ({ outcome }) => <Outcome outcome={outcome} /> },
        { title: text.status, cell: ({ status }) => (status === 0 ? text.noStatus : String(status)) },
        {
          title: text.request,
          cell: ({ id, method, host, path, leftOut }) => (
            <>
              <UnstyledButton
                className="fd-mono fd-small"
                c="var(--mantine-color-anchor)"
                onClick={() => props.onOpen(id)}
                aria-label={text.open(`${method} ${host}${path}`)}
              >
                {`${method} ${host}${path}`}
              </UnstyledButton>
              {leftOut === 0 ? null : (
                <div className="fd-soft fd-small" title={text.leftOutWhy}>
                  {text.leftOut(leftOut, format.number(leftOut))}
                </div>
              )}
            </>
          ),
        },
        {
          title: text.share,
          cell: ({ shareToken: token }) => (
            <Link to="/frontdoors/$frontdoorId/shares/$token" params={{ frontdoorId, token }}>
              {token}
            </Link>
          ),
        },
        { title: text.caller, cell: ({ caller, client }) => caller ?? client },
        {
          title: text.took,
          cell: ({ timingsMs: { done } }) => (done === null ? '' : format.duration(done)),
          isNumber: true,
        },
      ]}
    />
  );
}
