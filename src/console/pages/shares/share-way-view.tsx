/** The way of a request to a service, as a row of boxes with words in them, and its problem. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import type { ShareAnswer } from '#contract/schemas';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { ApiText } from '../../parts/api-text.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { useNow } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { brokenHop, wayOf, type ShareHop, type HopState } from './share-way.ts';
import { sharesText } from './shares-text.ts';

const TONES: Readonly<Record<HopState, Tone>> = {
  works: 'good',
  broken: 'bad',
  unmeasured: 'soft',
  waiting: 'soft',
  closed: 'warn',
};
const TICK_MS = 1_000;

interface WayProps {
  readonly share: ShareAnswer;
  /** Undefined while it is not known. */
  readonly agent: AnswerOf<'getEnvironment'> | undefined;
}

export function ShareWay({ share, agent }: WayProps): ReactNode {
  const text = useText(sharesText);
  const way = wayOf(share, agent?.status);
  const broken = brokenHop(way);
  return (
    <Panel title={text.way}>
      <ol className="fd-hops">
        {way.map((hop, at) => (
          <li key={hop.kind} className={`fd-hop${hop.state === 'broken' ? ' fd-hop-broken' : ''}`}>
            {at === 0 ? null : (
              <span className="fd-hop-arrow">
                <Icon name="arrow" />
              </span>
            )}
            <HopBox hop={hop} share={share} agent={agent} />
          </li>
        ))}
      </ol>
      <p role="status">
        {share.status === 'DEPLOYED'
          ? text.wayWorks
          : share.status === 'PENDING'
            ? text.wayWaits
            : broken === undefined
              ? text.wayUnknown
              : text.wayBroken(text.hops(broken))}
      </p>
      {share.access.admits === 'nobody' ? (
        <p>
          <ApiText>{share.access.summary}</ApiText>
        </p>
      ) : null}
      {share.failure === undefined ? null : <Failure failure={share.failure} />}
      {broken === 'agent' ? <p>{text.agentAway}</p> : null}
      {broken === 'target' ? <p>{text.targetBroken}</p> : null}
      {share.failure?.presentedCertificate === undefined ? null : <ToCertificate token={share.token} />}
    </Panel>
  );
}

function ToCertificate({ token }: { readonly token: string }): ReactNode {
  const text = useText(sharesText);
  const frontdoorId = useFrontdoorId();
  return (
    <p>
      <Link to="/frontdoors/$frontdoorId/shares/$token/service" params={{ frontdoorId, token }}>
        {text.toCertificate}
      </Link>
    </p>
  );
}

function HopBox({ hop, share, agent }: WayProps & { readonly hop: ShareHop }): ReactNode {
  const text = useText(sharesText);
  const frontdoorId = useFrontdoorId();
  const { kind, state } = hop;
  return (
    <div className="fd-hop-box">
      <strong>{text.hops(kind)}</strong>
      <StateBadge tone={TONES[state]}>{text.hopStates(state)}</StateBadge>
      <span className="fd-small fd-soft">{text.hopHints(kind)}</span>
      {kind === 'agent' && agent !== undefined ? (
        <Link
          to="/frontdoors/$frontdoorId/agents/$environmentId"
          params={{ frontdoorId, environmentId: agent.id }}
          className="fd-name"
        >
          {agent.name}
        </Link>
      ) : null}
      {kind === 'target' ? <span className="fd-mono fd-small">{share.target}</span> : null}
    </div>
  );
}

function Failure({ failure }: { readonly failure: NonNullable<ShareAnswer['failure']> }): ReactNode {
  const [text, format] = [useText(sharesText), useFormat()];
  const now = useNow(TICK_MS);
  const nextMs = Date.parse(failure.nextRetry);
  return (
    <Facts
      facts={[
        [
          text.lastError,
          <span key="error" className="fd-bad">
            <ApiText>{failure.lastError}</ApiText>
          </span>,
        ],
        [text.failuresInRow, format.number(failure.count)],
        [
          text.nextRetry,
          <time key="next" dateTime={failure.nextRetry} title={format.dateTime(nextMs)}>
            {nextMs <= now ? text.nextRetryNow : format.relative(nextMs, now)}
          </time>,
        ],
      ]}
    />
  );
}
