/** The domains of one share: each with its state, its DNS records and its end, and a form that adds another. */
import { Group } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { ShareDomainAnswer } from '#contract/schemas';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { ActionButton, ConfirmedAction } from '../../parts/action-button.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { Problem } from '../../parts/problem.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { ExactTime } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { useShare } from '../shares/share-frame.tsx';
import { DnsRecordTable } from './dns-record-table.tsx';
import { DomainProof } from './domain-proof.tsx';
import { domainsText } from './domains-text.ts';
import { shareDomainsText } from './share-domains-text.ts';

export function ShareDomainsPage(): ReactNode {
  const text = useText(shareDomainsText);
  const parameters = { frontdoorId: useFrontdoorId(), token: useParam('token') };
  const domains = useAnswer('listShareDomains', { parameters });
  return (
    <AnswerView answer={useShare()}>
      {({ body: { shareMode } }) => (
        <>
          <Panel title={text.title}>
            <p className="fd-soft">{text.intro}</p>
            {shareMode === 'private' ? (
              <p>{text.privateShare}</p>
            ) : (
              <AddDomains present={domains.data?.body ?? []} />
            )}
          </Panel>
          <AnswerView answer={domains}>
            {({ body: all }) => all.map((domain) => <Domain key={domain.hostname} domain={domain} />)}
          </AnswerView>
        </>
      )}
    </AnswerView>
  );
}

/** A form for one domain after the other. */
function AddDomains({ present }: { readonly present: readonly ShareDomainAnswer[] }): ReactNode {
  const parts = useText(partsText);
  const { may } = useSession();
  const [added, setAdded] = useState<readonly string[]>([]);
  if (!may('addShareDomain')) return <p>{parts.roleTooLow}</p>;
  const last = present.find(({ hostname }) => hostname === added.at(-1));
  return (
    <AddDomain
      key={added.length}
      last={last?.hostname}
      onAdded={(hostname) => setAdded([...added, hostname])}
    />
  );
}

function AddDomain(props: {
  /** The domain that was added before. */
  readonly last: string | undefined;
  readonly onAdded: (hostname: string) => void;
}): ReactNode {
  const [text, domains] = [useText(shareDomainsText), useText(domainsText)];
  const { last, onAdded } = props;
  const parameters = { frontdoorId: useFrontdoorId(), token: useParam('token') };
  const idempotencyKey = useIdempotencyKey();
  const [hostname, setHostname] = useState('');
  const add = useChange('addShareDomain', {
    refreshes: ['share'],
    onDone: ({ body }) => onAdded(body.hostname),
  });
  return (
    <>
      <Form
        fields={['hostname']}
        error={add.error}
        isPending={add.isPending}
        submit={text.add}
        onSubmit={() => add.mutate({ parameters, body: { hostname: hostname.trim() }, idempotencyKey })}
      >
        <TextField
          isRequired
          name="hostname"
          label={domains.hostname}
          description={text.hostnameHelp}
          value={hostname}
          onChange={setHostname}
        />
      </Form>
      <p className="fd-small" role="status">
        {last === undefined || add.error !== null ? null : text.added(last)}
      </p>
    </>
  );
}

function Domain({ domain }: { readonly domain: ShareDomainAnswer }): ReactNode {
  const [text, domains] = [useText(shareDomainsText), useText(domainsText)];
  const { may } = useSession();
  const { hostname, proof, proofEndsAt, proofProblem, dnsRecords } = domain;
  const parameters = { frontdoorId: useFrontdoorId(), token: useParam('token'), hostname };
  // DNS is asked when someone wants to know, not for every domain of the page.
  const check = useAnswer('checkShareDomain', { parameters }, { enabled: false });
  const look = () => void check.refetch();
  return (
    <Panel
      title={hostname}
      actions={
        <Group gap="xs">
          <ActionButton
            label={text.check}
            full={`${text.check}: ${hostname}`}
            isPending={check.isFetching}
            onClick={look}
          />
          <ConfirmedAction
            operation="removeShareDomain"
            input={{ parameters }}
            refreshes={['share']}
            label={text.remove}
            full={`${text.remove}: ${hostname}`}
            title={text.removeTitle(hostname)}
            isDisabled={!may('removeShareDomain')}
          >
            <p>{text.removeText}</p>
          </ConfirmedAction>
        </Group>
      }
    >
      <p>
        <DomainProof proof={proof} /> {text.stateWhy(proof)}
      </p>
      {proofEndsAt === null ? null : (
        <p>
          {domains.proofEnds(proof)}: <ExactTime at={proofEndsAt} />
        </p>
      )}
      {proofProblem === null ? null : <p className="fd-bad">{proofProblem}</p>}
      {proof === 'PENDING' ? null : <Certificate {...domain.certificate} />}
      {check.error === null ? null : <Problem error={check.error} onAgain={look} />}
      <DnsRecordTable label={text.recordsOf(hostname)} records={check.data?.body ?? dnsRecords} />
    </Panel>
  );
}

function Certificate({ state, validUntil, problem, retryAt }: ShareDomainAnswer['certificate']): ReactNode {
  const text = useText(shareDomainsText);
  return (
    <>
      <p>
        {text.certificate(state)} {validUntil === null ? null : <ExactTime at={validUntil} />}
      </p>
      {problem === null ? null : (
        <p className="fd-bad">
          {text.orderFailed(problem)} {text.orderRemedy}
        </p>
      )}
      {retryAt === null ? null : (
        <p>
          {text.nextOrder}: <ExactTime at={retryAt} />
        </p>
      )}
    </>
  );
}
