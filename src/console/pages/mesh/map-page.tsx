/** The mesh as of one moment: a map, its links as a table, and the way that a circuit would take. */
import type { ReactNode } from 'react';
import type { MeshAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { MeshMap } from './mesh-map.tsx';
import { meshText } from './mesh-text.ts';
import { RouteQuestion } from './route-question.tsx';
import { UnroutedQuestion } from './unrouted-question.tsx';

const MEASURED_MS = 30_000;
const MOST_LINKS = 100;

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

/** Lists the links of the map as text. */
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
      // Those that circuits cannot use come first; the page of links has all.
      rows={[...links.filter(({ usable }) => !usable), ...links.filter(({ usable }) => usable)]
        .slice(0, MOST_LINKS)
        .map((link) => [
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
