/** The map of a mesh, drawn as large as the screen permits, and the list of its routers. */
import { Link } from '@tanstack/react-router';
import { useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import type { MeshAnswer } from '#contract/schemas';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { mapLabels, ROUTER_RADIUS, type MapLabel, type NamedPoint } from './map-labels.ts';
import { mapLayout } from './map-layout.ts';
import { meshText } from './mesh-text.ts';

type MeshRouter = MeshAnswer['routers'][number];

/** Pixels. */
const HEIGHT = { least: 280, most: 520 };
const HEIGHT_TO_WIDTH = 0.58;
/** The page of routers has all of them. */
const MOST_LISTED = 100;

export function MeshMap({ mesh }: { readonly mesh: MeshAnswer }): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const { routers, links } = mesh;
  const [frame, width] = useWidth();
  const height = Math.min(HEIGHT.most, Math.max(HEIGHT.least, Math.round(width * HEIGHT_TO_WIDTH)));
  const listed = useMemo(
    () => routers.toSorted((one, other) => one.name.localeCompare(other.name)).slice(0, MOST_LISTED),
    [routers],
  );
  const places = useMemo(() => {
    const ids = routers.map(({ id }) => id);
    return new Map(mapLayout(ids, links).map(({ id, x, y }) => [id, { x, y }]));
  }, [links, routers]);
  const points = useMemo(() => {
    const numbers = new Map(listed.map(({ id }, at) => [id, format.number(at + 1)]));
    const placed = routers.map(({ id, name }): NamedPoint => {
      const { x, y } = places.get(id)!;
      return { id, name, number: numbers.get(id), x: x * width, y: y * height };
    });
    return new Map(placed.map((point) => [point.id, point]));
  }, [format, height, listed, places, routers, width]);
  const labels = useMemo(() => mapLabels([...points.values()], { width, height }), [height, points, width]);
  const isNumbered = [...labels].some(([id, label]) => label.text !== points.get(id)!.name);
  return (
    <div ref={frame}>
      {width === 0 ? null : (
        <svg
          viewBox={`0 0 ${width} ${height}`}
          className="fd-map"
          role="group"
          aria-label={text.mapOf(format.number(routers.length), format.number(links.length))}
        >
          {links.map(({ id, sourceRouterId, destinationRouterId, usable, cost, circuits }) => {
            const [from, to] = [points.get(sourceRouterId), points.get(destinationRouterId)];
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
          {routers.map((router) => (
            <MapRouter
              key={router.id}
              router={router}
              point={points.get(router.id)!}
              label={labels.get(router.id)}
            />
          ))}
        </svg>
      )}
      {isNumbered ? <p className="fd-soft fd-small">{text.numbered}</p> : null}
      <ol className="fd-map-list" aria-label={text.routers}>
        {listed.map(({ id, name, online }) => (
          <li key={id}>
            <Link to="/mesh/routers/$routerId" params={{ routerId: id }}>
              {name}
            </Link>{' '}
            <StateBadge tone={online ? 'good' : 'bad'}>{online ? text.online : text.offline}</StateBadge>
          </li>
        ))}
      </ol>
      {routers.length > listed.length ? <Link to="/mesh/routers">{text.allRouters}</Link> : null}
    </div>
  );
}

function MapRouter(props: {
  readonly router: MeshRouter;
  readonly point: NamedPoint;
  readonly label: MapLabel | undefined;
}): ReactNode {
  const text = useText(meshText);
  const { router, label } = props;
  const { x, y } = props.point;
  const name = `${router.name}, ${router.online ? text.online : text.offline}`;
  // The shown text is part of the name, for people who speak to their computer.
  const shown = label === undefined || label.text === router.name ? name : `${label.text}: ${name}`;
  return (
    <Link to="/mesh/routers/$routerId" params={{ routerId: router.id }} aria-label={shown}>
      <g className={router.online ? 'fd-map-router' : 'fd-map-router fd-map-away'}>
        <title>{name}</title>
        <circle cx={x} cy={y} r={ROUTER_RADIUS} />
        {router.online ? null : <path d={`M${x - 4} ${y - 4}l8 8M${x + 4} ${y - 4}l-8 8`} />}
        {label === undefined ? null : (
          <text x={label.x} y={label.y} textAnchor={label.anchor}>
            {label.text}
          </text>
        )}
      </g>
    </Link>
  );
}

/** The width of an element in pixels, before the first paint, too. */
function useWidth() {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measured = element.current!;
    const measure = () => setWidth(measured.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(measured);
    return () => observer.disconnect();
  }, []);
  return [element, width] as const;
}
