/** The links between routers. */
import type { ReactNode } from 'react';
import { ListPage } from '../../parts/list-page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useList } from '../../parts/use-list.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

const MEASURED_MS = 30_000;

export function LinksPage(): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const ms = (value: number | null) => (value === null ? '–' : format.duration(value));
  return (
    <ListPage
      title={text.links}
      list={useList('listLinks', {}, { refetchMs: MEASURED_MS })}
      columns={[
        { title: text.from, cell: ({ sourceRouterName }) => sourceRouterName },
        { title: text.to, cell: ({ destinationRouterName }) => destinationRouterName },
        {
          title: text.state,
          cell: ({ usable }) => (
            <StateBadge tone={usable ? 'good' : 'bad'}>{usable ? text.usable : text.unusable}</StateBadge>
          ),
        },
        {
          title: text.address,
          cell: ({ protocol, dialAddress }) => (
            <span className="fd-mono">{`${protocol} ${dialAddress}`}</span>
          ),
        },
        { title: text.cost, cell: ({ cost }) => format.number(cost), isNumber: true },
        {
          title: text.latency,
          cell: ({ sourceLatencyMs, destinationLatencyMs }) =>
            `${ms(sourceLatencyMs)} / ${ms(destinationLatencyMs)}`,
        },
      ]}
      keyOf={({ id }) => id}
      empty={<p>{text.noLinks}</p>}
    />
  );
}
