/** One share at a glance: the way to its service, its facts, and its last failures. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ShareAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { ExactTime } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { AccessSentences } from '../access/access-sentences.tsx';
import { AgentName } from '../agents/agent-name.tsx';
import { backendModeText } from './backend-mode-text.ts';
import { LastFailures } from './last-failures.tsx';
import { accessCommand } from './share-draft.ts';
import { useShare } from './share-frame.tsx';
import { ProviderName } from './share-names.tsx';
import { ShareWay } from './share-way-view.tsx';
import { sharesText } from './shares-text.ts';
import { WhoMayComeIn } from './who-may-come-in.tsx';

export function ShareOverviewPage(): ReactNode {
  return (
    <AnswerView answer={useShare()}>
      {({ body: share }) => (
        <>
          <Way share={share} />
          <About share={share} />
          {share.shareMode === 'private' ? <OpenElsewhere share={share} /> : null}
          <LastFailures token={share.token} />
        </>
      )}
    </AnswerView>
  );
}

function Way({ share }: { readonly share: ShareAnswer }): ReactNode {
  const frontdoorId = useFrontdoorId();
  const agent = useAnswer('getEnvironment', { parameters: { frontdoorId, id: share.environmentId } });
  return <ShareWay share={share} agent={agent.data?.body} />;
}

function About({ share }: { readonly share: ShareAnswer }): ReactNode {
  const [text, parts] = [useText(sharesText), useText(partsText)];
  const kinds: Readonly<Record<string, string>> = useText(backendModeText);
  const frontdoorId = useFrontdoorId();
  const { token, environmentId, frontendEndpoints, shareMode } = share;
  return (
    <Panel title={text.about}>
      <Facts
        facts={[
          [text.addresses, <Addresses key="addresses" urls={frontendEndpoints} />],
          [text.kind, kinds[share.backendMode]],
          [text.target, <CopyText key="target" value={share.target} />],
          [
            text.agent,
            <Link
              key="agent"
              to="/frontdoors/$frontdoorId/agents/$environmentId"
              params={{ frontdoorId, environmentId }}
            >
              <AgentName id={environmentId} />
            </Link>,
          ],
          [text.who, <WhoMayOpen key="who" share={share} />],
          shareMode === 'private'
            ? [text.grants, <Names key="grants" ids={share.grants} Name={AgentName} none={text.noGrants} />]
            : [
                text.providers,
                <Names
                  key="providers"
                  ids={share.authProviderIds}
                  Name={ProviderName}
                  none={text.noProviders}
                />,
              ],
          [text.token, <CopyText key="token" value={token} />],
          [text.kept, share.reserved ? parts.yes : parts.no],
          [text.created, <ExactTime key="created" at={share.createdAt} />],
        ]}
      />
      <p>
        <Link to="/frontdoors/$frontdoorId/shares/$token/access" params={{ frontdoorId, token }}>
          {text.toAccess}
        </Link>
      </p>
    </Panel>
  );
}

/** Sentences in the person's language. Of a share with several addresses, which may have different providers, it is the API's summary. */
function WhoMayOpen({ share }: { readonly share: ShareAnswer }): ReactNode {
  const parameters = { frontdoorId: useFrontdoorId(), token: share.token };
  const isOne = share.shareMode === 'public' && share.frontendEndpoints.length === 1;
  const policy = useAnswer('getSharePolicy', { parameters }, { enabled: isOne });
  if (policy.data === undefined) return <WhoMayComeIn access={share.access} />;
  return <AccessSentences policy={policy.data.body} providerIds={share.authProviderIds} />;
}

function Addresses({ urls }: { readonly urls: readonly string[] }): ReactNode {
  const text = useText(sharesText);
  if (urls.length === 0) return text.noAddress;
  return urls.map((url) => (
    <div key={url}>
      <CopyText value={url} href={url} />
    </div>
  ));
}

function Names(props: {
  readonly ids: readonly string[];
  readonly Name: (props: { readonly id: string }) => ReactNode;
  readonly none: string;
}): ReactNode {
  const { ids, Name, none } = props;
  if (ids.length === 0) return <span className="fd-soft">{none}</span>;
  return (
    <ul className="fd-plain">
      {ids.map((id) => (
        <li key={id}>
          <Name id={id} />
        </li>
      ))}
    </ul>
  );
}

function OpenElsewhere({ share }: { readonly share: ShareAnswer }): ReactNode {
  const text = useText(sharesText);
  return (
    <Panel title={text.openElsewhere}>
      <p>{text.openElsewhereText}</p>
      <CodeBlock label={text.openElsewhere} code={accessCommand(share)} />
    </Panel>
  );
}
