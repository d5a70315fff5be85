/** One domain: its state, its DNS records and the answers of DNS, the log-ins that guard it, and its end. */
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CustomFrontendAnswer } from '#contract/schemas';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { ExactTime } from '../../parts/time-ago.tsx';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { ProviderChoice } from '../providers/provider-choice.tsx';
import { DnsRecords } from './dns-records.tsx';
import { DomainProof } from './domain-proof.tsx';
import { DomainState } from './domain-state.tsx';
import { domainsText } from './domains-text.ts';

export function DomainPage(): ReactNode {
  const text = useText(domainsText);
  const [frontdoorId, customFrontendId] = [useFrontdoorId(), useParam('domainId')];
  const frontends = useAnswer('listFrontends', { parameters: { frontdoorId } }).data?.body ?? [];
  const answer = useAnswer('getCustomFrontend', { parameters: { frontdoorId, customFrontendId } });
  return (
    <AnswerView answer={answer}>
      {({ body: domain, etag }) => (
        <>
          <PageTitle
            title={domain.hostname}
            above={
              <Link to="/frontdoors/$frontdoorId/domains" params={{ frontdoorId }}>
                {text.domains}
              </Link>
            }
          >
            <DomainState status={domain.status} />
          </PageTitle>
          <Panel>
            <p>{domain.proof === 'PENDING' ? text.proofWhy(domain.proof) : text.stateWhy(domain.status)}</p>
            {domain.proof === 'PENDING' ? null : <p>{text.proofWhy(domain.proof)}</p>}
            {domain.proofProblem === null ? null : <p className="fd-bad">{domain.proofProblem}</p>}
            <Facts
              facts={[
                [
                  text.frontend,
                  frontends.find(({ id }) => id === domain.frontendId)?.publicName ?? domain.frontendId,
                ],
                [text.proof, <DomainProof key="proof" proof={domain.proof} />],
                ...(domain.proofEndsAt === null
                  ? []
                  : [
                      [
                        text.proofEnds(domain.proof),
                        <ExactTime key="end" at={domain.proofEndsAt} />,
                      ] as const,
                    ]),
                [text.certificateFor, <CopyText key="name" value={domain.domainName} />],
                [text.created, <ExactTime key="time" at={domain.createdAt} />],
              ]}
            />
          </Panel>
          <DnsRecords id={domain.id} />
          <DomainProviders key={domain.id} now={{ body: domain, etag }} reload={reloadOf(answer)} />
          <DeleteDomain domain={domain} etag={etag} />
        </>
      )}
    </AnswerView>
  );
}

function DomainProviders(props: Editable<CustomFrontendAnswer>): ReactNode {
  const [text, parts] = [useText(domainsText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const edit = useEdit({ ...props, draftOf: ({ authProviderIds }) => ({ authProviderIds }) });
  const { authProviderIds: chosen } = edit.draft;
  const { body: domain, etag } = edit.base;
  const change = useChange('changeCustomFrontend', { refreshes: ['custom-frontend'], onDone: edit.saved });
  return (
    <Panel title={text.providers}>
      {may('changeCustomFrontend') ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      <EditForm
        edit={edit}
        change={change}
        fields={['authProviderIds']}
        isDisabled={!may('changeCustomFrontend')}
        submit={text.save}
        saved={text.saved}
        onSubmit={() =>
          change.mutate({
            parameters: { frontdoorId, customFrontendId: domain.id },
            body: { authProviderIds: [...chosen] },
            ifMatch: etag,
          })
        }
      >
        <ProviderChoice
          label={text.providers}
          description={chosen.length === 0 ? text.providersNone : text.providersHelp}
          value={chosen}
          isDisabled={!may('changeCustomFrontend')}
          onChange={(ids) => edit.type({ authProviderIds: [...ids] })}
        />
      </EditForm>
    </Panel>
  );
}

function DeleteDomain({
  domain,
  etag,
}: {
  readonly domain: CustomFrontendAnswer;
  readonly etag: string | undefined;
}): ReactNode {
  const [text, parts] = [useText(domainsText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const navigate = useNavigate();
  const { may } = useSession();
  return (
    <Panel title={text.deleteDomain}>
      <p>{may('deleteCustomFrontend') ? text.deleteText : parts.roleTooLow}</p>
      <DeleteButton
        operation="deleteCustomFrontend"
        kind="custom-frontend"
        input={{ parameters: { frontdoorId, customFrontendId: domain.id }, ifMatch: etag }}
        label={text.deleteDomain}
        title={text.deleteDomain}
        action={parts.delete}
        typed={domain.hostname}
        variant="outline"
        isDisabled={!may('deleteCustomFrontend')}
        onDeleted={() => void navigate({ to: '/frontdoors/$frontdoorId/domains', params: { frontdoorId } })}
      >
        <p>{text.deleteText}</p>
      </DeleteButton>
    </Panel>
  );
}
