/** The routers beside the map: name, state and links in words. One that is pointed at stands out on the map. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import type { ListedRouter } from './map-routers.ts';
import { meshText } from './mesh-text.ts';

/** The page of routers has all of them. */
export const MOST_LISTED = 100;

export function MapRouterList(props: {
  readonly ordered: readonly ListedRouter[];
  readonly onShow: (id: string | undefined) => void;
}): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const { ordered, onShow } = props;
  return (
    <div className="fd-map-side">
      <ol className="fd-map-list" aria-label={text.routers}>
        {ordered.slice(0, MOST_LISTED).map(({ id, name, online, links, unusable }) => (
          <li key={id} onPointerEnter={() => onShow(id)} onPointerLeave={() => onShow(undefined)}>
            <Link
              to="/mesh/routers/$routerId"
              params={{ routerId: id }}
              onFocus={() => onShow(id)}
              onBlur={() => onShow(undefined)}
            >
              {name}
            </Link>{' '}
            <StateBadge tone={!online ? 'bad' : unusable > 0 ? 'warn' : 'good'}>
              {online ? text.online : text.offline}
            </StateBadge>{' '}
            <span className="fd-soft fd-small">
              {online || links > 0 ? text.linksOf(links, format.number(links)) : null}
              {unusable === 0 ? null : `, ${text.unusableOf(unusable, format.number(unusable))}`}
            </span>
          </li>
        ))}
      </ol>
      {ordered.length > MOST_LISTED ? <Link to="/mesh/routers">{text.allRouters}</Link> : null}
    </div>
  );
}
