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
        { id: 'from', title: text.from, isName: true, cell: ({ sourceRouterName }) => sourceRouterName },
        { id: 'to', title: text.to, cell: ({ destinationRouterName }) => destinationRouterName },
        {
          id: 'state',
          title: text.state,
          width: 8,
          cell: ({ usable }) => (
            <StateBadge tone={usable ? 'good' : 'bad'}>{usable ? text.usable : text.unusable}</StateBadge>
          ),
        },
        {
          id: 'address',
          title: text.address,
          share: 1.4,
          cell: ({ protocol, dialAddress }) => (
            <span className="fd-mono">{`${protocol} ${dialAddress}`}</span>
          ),
        },
        {
          id: 'static-cost',
          title: text.staticCost,
          width: 7,
          cell: ({ staticCost }) => format.number(staticCost),
          isNumber: true,
        },
        {
          id: 'source-latency',
          title: text.sourceLatency,
          width: 8,
          cell: ({ sourceLatencyMs }) => ms(sourceLatencyMs),
          isNumber: true,
        },
        {
          id: 'destination-latency',
          title: text.destinationLatency,
          width: 9,
          cell: ({ destinationLatencyMs }) => ms(destinationLatencyMs),
          isNumber: true,
        },
        {
          id: 'cost',
          title: text.fullCost,
          width: 6,
          cell: ({ cost }) => format.number(cost),
          isNumber: true,
        },
      ]}
      keyOf={({ id }) => id}
      empty={<p>{text.noLinks}</p>}
    />
  );
}
