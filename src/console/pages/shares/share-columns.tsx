/** The columns of the list of shares. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ShareAnswer, SparklinesAnswer } from '#contract/schemas';
import { CopyText } from '../../parts/copy-text.tsx';
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
      title: text.status,
      sort: 'status',
      cell: ({ status, access }) => <ShareState status={status} access={access} />,
    },
    {
      title: text.name,
      sort: 'name',
      cell: ({ token, name }) => (
        <Link to="/frontdoors/$frontdoorId/shares/$token" params={{ frontdoorId, token }} className="fd-name">
          {name ?? token}
        </Link>
      ),
    },
    { title: text.address, cell: (share) => <Address share={share} /> },
    { title: text.target, cell: ({ target }) => <span className="fd-mono">{target}</span> },
    {
      title: text.agent,
      cell: ({ environmentId }) => (
        <Link
          to="/frontdoors/$frontdoorId/agents/$environmentId"
          params={{ frontdoorId, environmentId }}
          className="fd-name"
        >
          <AgentName id={environmentId} />
        </Link>
      ),
    },
    { title: text.who, cell: ({ access }) => <WhoMayComeIn access={access} /> },
    { title: text.lastHour, cell: ({ token }) => <LastHour line={lineOf.get(token)} /> },
  ];
}

function Address({ share }: { readonly share: ShareAnswer }): ReactNode {
  const [text, format] = [useText(sharesText), useFormat()];
  const [url, ...others] = share.frontendEndpoints;
  if (url === undefined) return <span className="fd-soft">{text.privateShare}</span>;
  return (
    <>
      <CopyText value={url} href={url} />
      {others.length === 0 ? null : (
        <div className="fd-soft fd-small">{text.moreAddresses(format.number(others.length))}</div>
      )}
    </>
  );
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
        <div className="fd-bad fd-small" aria-hidden="true">
          {text.requestsLine(format.number(sumOf(line.requests)), format.number(errors))}
        </div>
      )}
    </>
  );
}
