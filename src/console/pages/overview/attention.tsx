/**
 * Lists what needs attention: failing shares, disconnected agents, expiring certificates, waiting domains and people. The first of
 * each kind stand with a link to all.
 */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FrontdoorAttentionAnswer } from '#contract/schemas';
import { useSession } from '../../api/session.tsx';
import { ApiText } from '../../parts/api-text.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { overviewText } from './overview-text.ts';

type Props = { readonly attention: FrontdoorAttentionAnswer };

export function Attention({ attention }: Props): ReactNode {
  const text = useText(overviewText);
  const { failingShares, disconnectedAgents, waitingDomains, expiringCertificates, waitingPeople } =
    attention;
  const isWell =
    failingShares.total + disconnectedAgents.total + waitingDomains.total + waitingPeople === 0 &&
    expiringCertificates.length === 0;
  return (
    <Panel title={text.attention}>
      {isWell ? (
        <StateBadge tone="good">{text.allWell}</StateBadge>
      ) : (
        <ul className="fd-plain fd-wrap">
          <FailingShares attention={attention} />
          <DisconnectedAgents attention={attention} />
          <WaitingDomains attention={attention} />
          <Certificates attention={attention} />
          <WaitingPeople count={waitingPeople} />
        </ul>
      )}
    </Panel>
  );
}

function FailingShares({ attention: { frontdoorId, failingShares } }: Props): ReactNode {
  const text = useText(overviewText);
  const { total, first } = failingShares;
  return (
    <>
      {first.map(({ token, name, lastError }) => (
        <Entry key={token} tone="bad">
          <Link to="/frontdoors/$frontdoorId/shares/$token" params={{ frontdoorId, token }}>
            {name ?? token}
          </Link>
          {lastError === null ? ` ${text.isFailing}` : ': '}
          {lastError === null ? null : <ApiText>{lastError}</ApiText>}
        </Entry>
      ))}
      <More count={total - first.length}>
        {(shown) => (
          <Link to="/frontdoors/$frontdoorId/shares" params={{ frontdoorId }} search={{ status: 'FAILED' }}>
            {text.moreShares(total - first.length, shown)}
          </Link>
        )}
      </More>
    </>
  );
}

function DisconnectedAgents({ attention: { frontdoorId, disconnectedAgents } }: Props): ReactNode {
  const text = useText(overviewText);
  const { total, first } = disconnectedAgents;
  return (
    <>
      {first.map(({ id, name, lastSeenAt }) => (
        <Entry key={id}>
          <Link
            to="/frontdoors/$frontdoorId/agents/$environmentId"
            params={{ frontdoorId, environmentId: id }}
          >
            {name}
          </Link>{' '}
          {lastSeenAt === null ? (
            text.neverConnected
          ) : (
            <>
              {text.awayAgent} <TimeAgo at={lastSeenAt} />
            </>
          )}
        </Entry>
      ))}
      <More count={total - first.length}>
        {(shown) => (
          <Link to="/frontdoors/$frontdoorId/agents" params={{ frontdoorId }} search={{ status: 'INACTIVE' }}>
            {text.moreAgents(total - first.length, shown)}
          </Link>
        )}
      </More>
    </>
  );
}

function WaitingDomains({ attention: { frontdoorId, waitingDomains } }: Props): ReactNode {
  const text = useText(overviewText);
  const { total, first } = waitingDomains;
  return (
    <>
      {first.map(({ id, hostname }) => (
        <Entry key={id}>
          <Link to="/frontdoors/$frontdoorId/domains/$domainId" params={{ frontdoorId, domainId: id }}>
            {hostname}
          </Link>{' '}
          {text.domainWaits}
        </Entry>
      ))}
      <More count={total - first.length}>
        {(shown) => (
          <Link to="/frontdoors/$frontdoorId/domains" params={{ frontdoorId }}>
            {text.moreDomains(total - first.length, shown)}
          </Link>
        )}
      </More>
    </>
  );
}

function Certificates({ attention: { frontdoorId, expiringCertificates } }: Props): ReactNode {
  const text = useText(overviewText);
  return expiringCertificates.map(({ kind, id, name, expiresAt }) => (
    <Entry key={`${kind} ${id} ${name}`}>
      {kind === 'domain' ? (
        <Link to="/frontdoors/$frontdoorId/shares/$token" params={{ frontdoorId, token: id }}>
          {name}
        </Link>
      ) : (
        <Link to="/frontdoors/$frontdoorId/agents/$environmentId" params={{ frontdoorId, environmentId: id }}>
          {name}
        </Link>
      )}{' '}
      {text.certificate} <TimeAgo at={expiresAt} />
    </Entry>
  ));
}

function WaitingPeople({ count }: { readonly count: number }): ReactNode {
  const [text, format] = [useText(overviewText), useFormat()];
  const { may } = useSession();
  if (count === 0) return null;
  const sentence = text.people(count, format.number(count));
  return <Entry>{may('listPeople') ? <Link to="/settings/people">{sentence}</Link> : sentence}</Entry>;
}

function Entry({
  tone = 'warn',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <li>
      <StateBadge tone={tone}>{children}</StateBadge>
    </li>
  );
}

function More(props: { readonly count: number; readonly children: (shown: string) => ReactNode }): ReactNode {
  const format = useFormat();
  return props.count <= 0 ? null : <li>{props.children(format.number(props.count))}</li>;
}
