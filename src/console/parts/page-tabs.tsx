/** Links to the pages of one thing. Each page has an address of its own. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** `tabs`: address, text, and whether addresses below it are other pages. */
export function PageTabs(props: {
  readonly label: string;
  readonly tabs: readonly (readonly [to: string, text: string, isExact?: boolean])[];
}): ReactNode {
  return (
    <nav aria-label={props.label} className="fd-tabs">
      <ul>
        {props.tabs.map(([to, text, isExact = false]) => (
          <li key={to}>
            <Link
              to={to}
              activeOptions={{ exact: isExact, includeSearch: false }}
              activeProps={{ 'aria-current': 'page' }}
            >
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
