/** A new domain: its name, the entrance whose shares appear below it, and the log-ins that guard them. */
import { NativeSelect, TextInput } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Form, useFieldError } from '../../parts/form.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useText } from '../../text/language.tsx';
import { ProviderChoice } from '../providers/provider-choice.tsx';
import { domainsText } from './domains-text.ts';

const FIELDS = ['hostname', 'frontendId', 'authProviderIds'] as const;

export function NewDomainPage(): ReactNode {
  const [text, parts] = [useText(domainsText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const answer = useAnswer('listFrontends', { parameters: { frontdoorId } });
  return (
    <>
      <PageTitle
        title={text.newDomain}
        above={
          <Link to="/frontdoors/$frontdoorId/domains" params={{ frontdoorId }}>
            {text.domains}
          </Link>
        }
      />
      <Panel>
        {may('createCustomFrontend') ? null : <p>{parts.roleTooLow}</p>}
        <AnswerView answer={answer}>
          {({ body: frontends }) =>
            frontends.length === 0 ? <p>{text.noFrontends}</p> : <NewDomain frontends={frontends} />
          }
        </AnswerView>
      </Panel>
    </>
  );
}

function NewDomain({
  frontends,
}: {
  readonly frontends: readonly {
    readonly id: string;
    readonly publicName: string;
    readonly urlTemplate: string;
  }[];
}): ReactNode {
  const text = useText(domainsText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const navigate = useNavigate();
  const idempotencyKey = useIdempotencyKey();
  const [hostname, setHostname] = useState('');
  const [frontendId, setFrontendId] = useState(frontends[0]?.id ?? '');
  const [providers, setProviders] = useState<readonly string[]>([]);
  const create = useChange('createCustomFrontend', {
    refreshes: ['custom-frontend'],
    onDone: ({ body }) =>
      void navigate({
        to: '/frontdoors/$frontdoorId/domains/$domainId',
        params: { frontdoorId, domainId: body.id },
      }),
  });
  const body = { hostname: hostname.trim(), frontendId, authProviderIds: [...providers] };
  return (
    <Form
      fields={FIELDS}
      error={create.error}
      isPending={create.isPending}
      isDisabled={!may('createCustomFrontend')}
      submit={text.create}
      onSubmit={() => create.mutate({ parameters: { frontdoorId }, body, idempotencyKey })}
    >
      <Inputs
        hostname={hostname}
        onHostname={setHostname}
        frontendId={frontendId}
        onFrontend={setFrontendId}
        frontends={frontends.map(({ id, publicName, urlTemplate }) => ({
          value: id,
          label: `${publicName} (${urlTemplate})`,
        }))}
      />
      <ProviderChoice
        label={text.providers}
        description={providers.length === 0 ? text.providersNone : text.providersHelp}
        value={providers}
        onChange={setProviders}
      />
    </Form>
  );
}

function Inputs(props: {
  readonly hostname: string;
  readonly onHostname: (value: string) => void;
  readonly frontendId: string;
  readonly onFrontend: (id: string) => void;
  readonly frontends: readonly { readonly value: string; readonly label: string }[];
}): ReactNode {
  const text = useText(domainsText);
  return (
    <>
      <TextInput
        required
        mb="md"
        label={text.hostname}
        description={text.hostnameHelp}
        placeholder="apps.example.com"
        error={useFieldError('hostname')}
        value={props.hostname}
        onChange={({ currentTarget }) => props.onHostname(currentTarget.value)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
      <NativeSelect
        required
        mb="md"
        label={text.frontend}
        description={text.frontendHelp}
        error={useFieldError('frontendId')}
        value={props.frontendId}
        onChange={({ currentTarget }) => props.onFrontend(currentTarget.value)}
        data={[...props.frontends]}
      />
    </>
  );
}
