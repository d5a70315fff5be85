/** The columns of the list of shares. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ShareAnswer, SparklinesAnswer } from '#contract/schemas';
import { AddressCell, TargetCell } from '../../parts/address-cell.tsx';
import type { ListColumn } from '../../parts/list-table.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { AgentName } from '../agents/agent-name.tsx';
import { ShareState } from './share-state.tsx';
import { sharesText } from './shares-text.ts';
import { WhoMayComeIn } from './who-may-come-in.tsx';

type Line = SparklinesAnswer['sparklines'][number];

export function useShareColumns(
  frontdoorId: string,
  lines: readonly Line[] | undefined,
): readonly ListColumn<ShareAnswer>[] {
  const text = useText(sharesText);
  const lineOf = new Map(lines?.map((line) => [line.id, line]));
  return [
    {
      id: 'status',
      title: text.status,
      sort: 'status',
      width: 6.5,
      cell: ({ status, access }) => <ShareState status={status} access={access} />,
    },
    {
      id: 'name',
      title: text.name,
      sort: 'name',
      isName: true,
      share: 1.5,
      cell: ({ token, name }) => (
        <Link to="/frontdoors/$frontdoorId/shares/$token" params={{ frontdoorId, token }}>
          {name ?? token}
        </Link>
      ),
    },
    { id: 'address', title: text.address, share: 1.7, cell: (share) => <Address share={share} /> },
    {
      id: 'target',
      title: text.target,
      share: 1.2,
      cell: ({ target }) => <TargetCell target={target} />,
    },
    {
      id: 'agent',
      title: text.agent,
      share: 0.9,
      cell: ({ environmentId }) => (
        <Link to="/frontdoors/$frontdoorId/agents/$environmentId" params={{ frontdoorId, environmentId }}>
          <AgentName id={environmentId} />
        </Link>
      ),
    },
    { id: 'access', title: text.who, share: 1.2, cell: ({ access }) => <WhoMayComeIn access={access} /> },
    {
      id: 'lastHour',
      title: text.lastHour,
      width: 7.5,
      cell: ({ token }) => <LastHour line={lineOf.get(token)} />,
    },
  ];
}

function Address({ share }: { readonly share: ShareAnswer }): ReactNode {
  const text = useText(sharesText);
  const [url, ...others] = share.frontendEndpoints;
  if (url === undefined) return <span className="fd-soft">{text.privateShare}</span>;
  return <AddressCell addresses={[url, ...others]} />;
}

function LastHour({ line }: { readonly line: Line | undefined }): ReactNode {
  const [text, format] = [useText(sharesText), useFormat()];
  if (line === undefined) return null;
  const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  const errors = sumOf(line.errors);
  return (
    <>
      <Sparkline
        values={line.requests}
        label={text.requestsLine(format.number(sumOf(line.requests)), format.number(errors))}
      />
      {errors === 0 ? null : (
        <span className="fd-bad fd-small" aria-hidden="true">
          {` ${format.number(errors)}`}
        </span>
      )}
    </>
  );
}
