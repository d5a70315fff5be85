/** Links to the pages of an area, in groups beside the page. On a narrow screen a button above the page shows them. */
import { Button } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useId, useState, type ReactNode } from 'react';

export interface SideGroup {
  readonly title: string;
  readonly entries: readonly SideEntry[];
}

export interface SideEntry {
  /** The address of a page of the program, or with `isOutside` of another page of the console. */
  readonly to: string;
  readonly text: string;
  readonly isOutside?: boolean;
}

/** `label` names the list; `page` is the text of the button that shows it on a narrow screen. */
export function SideList(props: {
  readonly label: string;
  readonly page: string;
  readonly groups: readonly SideGroup[];
}): ReactNode {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  useEffect(() => setOpen(false), [pathname]);
  return (
    <nav aria-label={props.label} className="fd-side">
      <Button
        className="fd-side-button"
        variant="default"
        fullWidth
        justify="space-between"
        rightSection={<span aria-hidden="true">▾</span>}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {props.page}
      </Button>
      <div id={id} className="fd-side-groups" data-open={isOpen}>
        {props.groups.map((group) => (
          <Group key={group.title} group={group} />
        ))}
      </div>
    </nav>
  );
}

function Group({ group: { title, entries } }: { readonly group: SideGroup }): ReactNode {
  const id = useId();
  return (
    <div>
      <p id={id}>{title}</p>
      <ul aria-labelledby={id}>
        {entries.map(({ to, text, isOutside = false }) => (
          <li key={to}>
            {isOutside ? (
              <a href={to}>{text}</a>
            ) : (
              <Link to={to} activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>
                {text}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
