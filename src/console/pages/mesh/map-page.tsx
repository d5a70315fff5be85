/** The mesh as of one moment: a map, its links as a table, and the way that a circuit would take. */
import { Link } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import type { MeshAnswer } from '#contract';
import { useAnswer } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { mapLayout } from './map-layout.ts';
import { meshText } from './mesh-text.ts';
import { RouteQuestion } from './route-question.tsx';
import { UnroutedQuestion } from './unrouted-question.tsx';

const WIDTH = 900;
const HEIGHT = 520;
const RADIUS = 9;
const MEASURED_MS = 30_000;

export function MapPage(): ReactNode {
  const text = useText(meshText);
  const answer = useAnswer('getMesh', {}, { refetchMs: MEASURED_MS });
  return (
    <>
      <PageTitle title={text.mesh} />
      <AnswerView answer={answer}>
        {({ body }) => (
          <>
            <Panel title={text.map}>
              <MeshMap mesh={body} />
            </Panel>
            <RouteQuestion mesh={body} />
            <Panel title={text.links}>
              <MeshLinks mesh={body} />
            </Panel>
          </>
        )}
      </AnswerView>
      <UnroutedQuestion />
    </>
  );
}

function MeshMap({ mesh }: { readonly mesh: MeshAnswer }): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const { routers, links } = mesh;
  const places = useMemo(() => {
    const placed = mapLayout(
      routers.map(({ id }) => id),
      links,
    );
    return new Map(placed.map(({ id, x, y }) => [id, { x: x * WIDTH, y: y * HEIGHT }]));
  }, [links, routers]);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      className="fd-map"
      role="group"
      aria-label={text.mapOf(format.number(routers.length), format.number(links.length))}
    >
      {links.map(({ id, sourceRouterId, destinationRouterId, usable, cost, circuits }) => {
        const [from, to] = [places.get(sourceRouterId), places.get(destinationRouterId)];
        if (from === undefined || to === undefined) return null;
        return (
          <line
            key={id}
            x1={from.x}
            y1={from.y}
            x2={to.x}
            y2={to.y}
            className={usable ? 'fd-map-link' : 'fd-map-link fd-map-broken'}
            strokeWidth={1.5 + Math.min(4, Math.log10(1 + circuits))}
          >
            <title>{`${text.cost} ${format.number(cost)}, ${text.circuitsOn(circuits, format.number(circuits))}`}</title>
          </line>
        );
      })}
      {routers.map(({ id, name, online }) => {
        const { x, y } = places.get(id)!;
        const label = `${name}, ${online ? text.online : text.offline}`;
        return (
          <Link key={id} to="/mesh/routers/$routerId" params={{ routerId: id }} aria-label={label}>
            <g className={online ? 'fd-map-router' : 'fd-map-router fd-map-away'}>
              <circle cx={x} cy={y} r={RADIUS} />
              {online ? null : <path d={`M${x - 4} ${y - 4}l8 8M${x + 4} ${y - 4}l-8 8`} />}
              <text x={x} y={y + RADIUS + 14} textAnchor="middle">
                {name}
              </text>
            </g>
          </Link>
        );
      })}
    </svg>
  );
}

/** Lists the same facts as text. */
function MeshLinks({ mesh }: { readonly mesh: MeshAnswer }): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const { routers, links } = mesh;
  const names = new Map(routers.map(({ id, name }) => [id, name]));
  if (links.length === 0) return <p>{text.noLinks}</p>;
  const ms = (value: number | null) => (value === null ? '–' : format.duration(value));
  return (
    <SimpleTable
      label={text.links}
      head={[text.from, text.to, text.state, text.protocol, text.cost, text.latency, text.circuits]}
      // A page of a list has all of them.
      rows={links.slice(0, 100).map((link) => [
        names.get(link.sourceRouterId) ?? link.sourceRouterId,
        names.get(link.destinationRouterId) ?? link.destinationRouterId,
        <StateBadge key="state" tone={link.usable ? 'good' : 'bad'}>
          {link.usable ? text.usable : text.unusable}
        </StateBadge>,
        link.protocol,
        format.number(link.cost),
        `${ms(link.sourceLatencyMs)} / ${ms(link.destinationLatencyMs)}`,
        format.number(link.circuits),
      ])}
    />
  );
}
