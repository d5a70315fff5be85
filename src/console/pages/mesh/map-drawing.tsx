/** The drawing of a mesh: its links by state, and its routers with their names, or their numbers in the list. */
import { Link } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import type { MeshAnswer } from '#contract/schemas';
import { useFormat, useText } from '../../text/language.tsx';
import { mapLabels, ROUTER_RADIUS, type MapLabel, type NamedPoint } from './map-labels.ts';
import { mapLayout } from './map-layout.ts';
import { MOST_LISTED } from './map-router-list.tsx';
import type { ListedRouter } from './map-routers.ts';
import { meshText } from './mesh-text.ts';

type MeshLink = MeshAnswer['links'][number];

interface DrawingProps {
  readonly mesh: MeshAnswer;
  readonly ordered: readonly ListedRouter[];
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** The routers that stand out; undefined: all are alike. */
  readonly near: ReadonlySet<string> | undefined;
  readonly onShow: (id: string | undefined) => void;
}

export function MapDrawing(props: DrawingProps): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const { mesh, ordered, width, height, near, onShow } = props;
  const { routers, links } = mesh;
  const { points, labels } = usePlaces(props);
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      style={{ width, height }}
      className="fd-map"
      role="group"
      aria-label={text.mapOf(format.number(routers.length), format.number(links.length))}
    >
      {links.map((link) => (
        <MapLink key={link.id} link={link} points={points} near={near} />
      ))}
      {ordered.map((router) => (
        <MapRouter
          key={router.id}
          router={router}
          point={points.get(router.id)!}
          label={labels.get(router.id)}
          isDim={near !== undefined && !near.has(router.id)}
          onShow={onShow}
        />
      ))}
    </svg>
  );
}

/** Places depend on the mesh only, so zooming moves no node. */
function usePlaces({ mesh: { routers, links }, ordered, width, height }: DrawingProps) {
  const format = useFormat();
  const places = useMemo(() => {
    const ids = routers.map(({ id }) => id);
    return new Map(mapLayout(ids, links).map(({ id, x, y }) => [id, { x, y }]));
  }, [links, routers]);
  return useMemo(() => {
    const placed = ordered.map(({ id, name }, at): NamedPoint => {
      const { x, y } = places.get(id)!;
      const number = at < MOST_LISTED ? format.number(at + 1) : undefined;
      return { id, name, number, x: x * width, y: y * height };
    });
    const points = new Map(placed.map((point) => [point.id, point]));
    return { points, labels: mapLabels(placed, { width, height }) };
  }, [format, height, ordered, places, width]);
}

function MapLink(props: {
  readonly link: MeshLink;
  readonly points: ReadonlyMap<string, NamedPoint>;
  readonly near: ReadonlySet<string> | undefined;
}): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const { link, points, near } = props;
  const { sourceRouterId, destinationRouterId, usable, cost, circuits } = link;
  const [from, to] = [points.get(sourceRouterId), points.get(destinationRouterId)];
  if (from === undefined || to === undefined) return null;
  const isDim = near !== undefined && !(near.has(sourceRouterId) && near.has(destinationRouterId));
  return (
    <line
      x1={from.x}
      y1={from.y}
      x2={to.x}
      y2={to.y}
      className={['fd-map-link', usable ? '' : 'fd-map-broken', isDim ? 'fd-map-dim' : ''].join(' ')}
      strokeWidth={1.5 + Math.min(4, Math.log10(1 + circuits))}
    >
      <title>
        {[
          `${from.name} → ${to.name}`,
          usable ? text.usable : text.unusable,
          `${text.cost} ${format.number(cost)}`,
          text.circuitsOn(circuits, format.number(circuits)),
        ].join(', ')}
      </title>
    </line>
  );
}

function MapRouter(props: {
  readonly router: ListedRouter;
  readonly point: NamedPoint;
  readonly label: MapLabel | undefined;
  readonly isDim: boolean;
  readonly onShow: (id: string | undefined) => void;
}): ReactNode {
  const text = useText(meshText);
  const { router, label, isDim, onShow } = props;
  const { id, online } = router;
  const { x, y } = props.point;
  const name = `${router.name}, ${online ? text.online : text.offline}`;
  // The shown text is part of the name, for people who speak to their computer.
  const shown = label === undefined || label.text === router.name ? name : `${label.text}: ${name}`;
  return (
    <Link
      to="/mesh/routers/$routerId"
      params={{ routerId: id }}
      aria-label={shown}
      onFocus={() => onShow(id)}
      onBlur={() => onShow(undefined)}
      onPointerEnter={() => onShow(id)}
      onPointerLeave={() => onShow(undefined)}
    >
      <g className={['fd-map-router', online ? '' : 'fd-map-away', isDim ? 'fd-map-dim' : ''].join(' ')}>
        <title>{name}</title>
        <circle cx={x} cy={y} r={ROUTER_RADIUS} />
        {online ? null : <path d={`M${x - 4} ${y - 4}l8 8M${x + 4} ${y - 4}l-8 8`} />}
        {label === undefined ? null : (
          <text x={label.x} y={label.y} textAnchor={label.anchor}>
            {label.text}
          </text>
        )}
      </g>
    </Link>
  );
}
