/** The code of an agent with the command that starts it, and the state of the code. */
import { Button, Group, SegmentedControl } from '@mantine/core';
import { VERSION } from 'frontdoor:version';
import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { Problem } from '../../parts/problem.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { ExactTime, useNow } from '../../parts/time-ago.tsx';
import { apiUrlHere } from '../../place.ts';
import { useText } from '../../text/language.tsx';
import { MACHINES, startCommand, type Machine } from './agent-command.ts';
import { agentsText } from './agents-text.ts';

/** The list is ordered by time, so that a new code stands on its first page. */
const LISTED = 100;
const TICK_MS = 5_000;

export interface CreatedCode {
  readonly code: string;
  readonly expiresAt: string;
  /** '' if it has none. */
  readonly name: string;
  readonly allowTargets: readonly string[];
}

export function StartAgent(props: {
  readonly created: CreatedCode;
  readonly onAnother: () => void;
}): ReactNode {
  const text = useText(agentsText);
  const { created } = props;
  const [machine, setMachine] = useState<Machine>('installed');
  return (
    <>
      <Panel title={text.codeTitle}>
        <p>{text.codeOnce}</p>
        <Facts
          facts={[
            [text.code, <CopyText key="code" value={created.code} />],
            [text.validUntil, <ExactTime key="until" at={created.expiresAt} />],
          ]}
        />
        <p id="machine-label" className="fd-label">
          {text.machine}
        </p>
        <div className="fd-scroll">
          <SegmentedControl
            aria-labelledby="machine-label"
            value={machine}
            onChange={(value) => setMachine(value)}
            data={MACHINES.map((value) => ({ value, label: text.machines(value) }))}
          />
        </div>
        <p className="fd-soft">{text.machineHints(machine, VERSION)}</p>
        <CodeBlock
          label={text.command}
          code={startCommand(machine, { ...created, apiUrl: apiUrlHere(), version: VERSION })}
        />
      </Panel>
      <Panel>
        <Progress {...props} />
      </Panel>
    </>
  );
}

function Progress({
  created,
  onAnother,
}: {
  readonly created: CreatedCode;
  readonly onAnother: () => void;
}): ReactNode {
  const text = useText(agentsText);
  const frontdoorId = useFrontdoorId();
  const now = useNow(TICK_MS);
  const codes = useAnswer('listEnrollments', { parameters: { frontdoorId }, query: { size: LISTED } });
  const isOurs = ({ expiresAt, name }: { readonly expiresAt: string; readonly name: string | null }) =>
    expiresAt === created.expiresAt && (name ?? '') === created.name;
  const enrollment = codes.data?.body.content.find(isOurs);
  const environmentId = enrollment?.environmentId ?? undefined;
  const agent = useAnswer(
    'getEnvironment',
    { parameters: { frontdoorId, id: environmentId ?? '' } },
    { enabled: environmentId !== undefined },
  ).data?.body;
  const isEnded = enrollment?.state !== 'used' && Date.parse(created.expiresAt) <= now;
  // The first answer may be older than the code.
  const isGone = codes.data !== undefined && !codes.isFetching && enrollment === undefined;
  const isThere = agent?.status === 'ACTIVE';
  return (
    <>
      {codes.error === null ? null : <Problem error={codes.error} onAgain={() => void codes.refetch()} />}
      <p role="status" className="fd-progress">
        {isThere ? (
          <StateBadge tone="good">{text.connected(agent.name)}</StateBadge>
        ) : environmentId !== undefined || enrollment?.state === 'used' ? (
          <StateBadge tone="soft">{text.enrolled}</StateBadge>
        ) : isGone ? (
          <StateBadge tone="bad">{text.codeGone}</StateBadge>
        ) : isEnded ? (
          <StateBadge tone="bad">{text.codeEnded}</StateBadge>
        ) : (
          <StateBadge tone="soft">{text.waiting}</StateBadge>
        )}
      </p>
      <Group>
        {isThere && environmentId !== undefined ? (
          <>
            <LinkButton
              to="/frontdoors/$frontdoorId/shares/new"
              params={{ frontdoorId }}
              search={{ environmentId }}
            >
              {text.publish}
            </LinkButton>
            <LinkButton
              variant="default"
              to="/frontdoors/$frontdoorId/agents/$environmentId"
              params={{ frontdoorId, environmentId }}
            >
              {text.showAgent}
            </LinkButton>
          </>
        ) : null}
        <Button variant="default" onClick={onAnother}>
          {text.another}
        </Button>
      </Group>
    </>
  );
}
