/** The heading of a page, with its actions, and the title of the tab. */
import { Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';

export function PageTitle(props: {
  readonly title: string;
  /** Stands before the title: where the page belongs. */
  readonly above?: ReactNode;
  readonly children?: ReactNode;
}): ReactNode {
  const { title } = props;
  useEffect(() => {
    document.title = `${title} · Frontdoor`;
  }, [title]);
  return (
    <>
      {props.above === undefined ? null : <div className="fd-small">{props.above}</div>}
      <div className="fd-title">
        <Title order={1}>{title}</Title>
        {props.children}
      </div>
    </>
  );
}

export function Panel(props: {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <section className="fd-panel" aria-label={props.title}>
      {props.title === undefined ? null : (
        <div className="fd-title">
          <Title order={2}>{props.title}</Title>
          {props.actions}
        </div>
      )}
      {props.children}
    </section>
  );
}

/** Pairs of a name and a value. */
export function Facts(props: { readonly facts: readonly (readonly [string, ReactNode])[] }): ReactNode {
  return (
    <dl className="fd-facts">
      {props.facts.map(([name, value], at) => (
        // A field of a form may be there twice.
        <div key={at} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
