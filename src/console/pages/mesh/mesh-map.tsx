/**
 * The map of a mesh with the list of its routers beside it. The routers and links of the one that is pointed at or has the focus stand
 * out, in the list or on the map; a map that is zoomed in has room for more names, and is scrolled.
 */
import { Button, Group } from '@mantine/core';
import { useLayoutEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from 'react';
import type { MeshAnswer } from '#contract/schemas';
import { useFormat, useText } from '../../text/language.tsx';
import { MapDrawing } from './map-drawing.tsx';
import { MapRouterList } from './map-router-list.tsx';
import { neighborsOf, routersInOrder } from './map-routers.ts';
import { meshText } from './mesh-text.ts';

/** Pixels. */
const HEIGHT = { few: { least: 280, most: 520 }, many: { least: 520, most: 720 } };
const HEIGHT_TO_WIDTH = { few: 0.58, many: 0.9 };
/** So many routers need more room. */
const MANY = 20;
const ZOOMS = [1, 1.5, 2, 3, 4] as const;

export function MeshMap({ mesh }: { readonly mesh: MeshAnswer }): ReactNode {
  const text = useText(meshText);
  const { routers, links } = mesh;
  const [frame, width] = useWidth();
  const [zoomAt, setZoomAt] = useState(0);
  const [shownId, setShownId] = useState<string | undefined>();
  const ordered = useMemo(() => routersInOrder(routers, links), [links, routers]);
  const near = useMemo(
    () => (shownId === undefined ? undefined : neighborsOf(shownId, links)),
    [links, shownId],
  );
  const isMany = routers.length > MANY;
  const size = isMany ? 'many' : 'few';
  const wanted = Math.round(width * HEIGHT_TO_WIDTH[size]);
  const height = Math.min(HEIGHT[size].most, Math.max(HEIGHT[size].least, wanted));
  const zoom = ZOOMS[zoomAt]!;
  return (
    <div className="fd-map-beside">
      <div>
        <MapTools zoomAt={zoomAt} onZoom={setZoomAt} />
        <MapFrame frame={frame} height={height} isZoomed={zoomAt > 0}>
          {width === 0 ? null : (
            <MapDrawing
              mesh={mesh}
              ordered={ordered}
              width={width * zoom}
              height={height * zoom}
              near={near}
              onShow={setShownId}
            />
          )}
        </MapFrame>
        {isMany ? <p className="fd-soft fd-small">{text.numbered}</p> : null}
      </div>
      <MapRouterList ordered={ordered} onShow={setShownId} />
    </div>
  );
}

function MapFrame(props: {
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly height: number;
  readonly isZoomed: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const text = useText(meshText);
  const { frame, height, isZoomed, children } = props;
  return (
    <div
      ref={frame}
      className="fd-map-frame"
      style={{ height, overflow: isZoomed ? 'auto' : 'hidden' }}
      {...(isZoomed ? { tabIndex: 0, role: 'region', 'aria-label': text.map } : {})}
    >
      {children}
    </div>
  );
}

function MapTools(props: { readonly zoomAt: number; readonly onZoom: (zoomAt: number) => void }): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const { zoomAt, onZoom } = props;
  return (
    <Group gap="xs" mb="xs">
      {zoomAt === ZOOMS.length - 1 ? null : (
        <Button size="compact-sm" variant="default" onClick={() => onZoom(zoomAt + 1)}>
          {text.zoomIn}
        </Button>
      )}
      {zoomAt === 0 ? null : (
        <>
          <Button size="compact-sm" variant="default" onClick={() => onZoom(zoomAt - 1)}>
            {text.zoomOut}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => onZoom(0)}>
            {text.wholeMap}
          </Button>
        </>
      )}
      <span className="fd-soft fd-small" role="status">
        {format.percent(ZOOMS[zoomAt]!)}
      </span>
      <MapLegend />
    </Group>
  );
}

function MapLegend(): ReactNode {
  const text = useText(meshText);
  return (
    <ul className="fd-legend fd-map-legend">
      {(
        [
          ['fd-map-link', text.usableLink],
          ['fd-map-link fd-map-broken', text.unusableLink],
        ] as const
      ).map(([name, label]) => (
        <li key={name}>
          <svg width="28" height="8" aria-hidden="true" focusable="false">
            <line x1="0" x2="28" y1="4" y2="4" className={name} strokeWidth="2" />
          </svg>
          {label}
        </li>
      ))}
    </ul>
  );
}

/** The width of an element in pixels, before the first paint, too. */
function useWidth() {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measured = element.current!;
    // Its own width, without a scroll bar, which comes and goes.
    const measure = () => setWidth(measured.offsetWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(measured);
    return () => observer.disconnect();
  }, []);
  return [element, width] as const;
}
