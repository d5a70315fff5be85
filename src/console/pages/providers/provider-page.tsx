/** One auth provider: its definition, its state, a test, what uses it, and who is logged in with it. */
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { ProviderAnswer } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ChangedMeanwhile } from '../../parts/changed-meanwhile.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { isOutdated } from '../../parts/read-version.ts';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { useText } from '../../text/language.tsx';
import { DeleteProvider } from './delete-provider.tsx';
import { LoginSessions } from './login-sessions.tsx';
import { ProviderCheck } from './provider-check.tsx';
import { madeSecrets, patchOf } from './provider-draft.ts';
import { ProviderForm, type TypedProvider } from './provider-form.tsx';
import { ProviderSwitch } from './provider-switch.tsx';
import { ProviderState, useTypeName } from './provider-types.tsx';
import { ProviderUses } from './provider-uses.tsx';
import { providersText } from './providers-text.ts';
import type { JsonSchema } from './schema-fields.ts';

export function ProviderPage(): ReactNode {
  const text = useText(providersText);
  const [frontdoorId, id] = [useFrontdoorId(), useParam('providerId')];
  const typeName = useTypeName();
  const answer = useAnswer('getAuthProvider', { parameters: { frontdoorId, id } });
  return (
    <AnswerView answer={answer}>
      {({ body: provider, etag }) => (
        <>
          <PageTitle
            title={provider.name}
            above={
              <Link to="/frontdoors/$frontdoorId/providers" params={{ frontdoorId }}>
                {text.providers}
              </Link>
            }
          >
            <span className="fd-soft">{typeName(provider.type)}</span>
            <ProviderState isEnabled={provider.enabled} />
            <ProviderSwitch provider={provider} etag={etag} />
          </PageTitle>
          {provider.type === 'API_KEY' ? null : <ProviderCheck key={etag} provider={provider} />}
          <ProviderUses id={id} />
          <Definition
            key={provider.id}
            provider={provider}
            etag={etag}
            onStale={() => void answer.refetch()}
          />
          <LoginSessions provider={provider} />
          <DeleteProvider provider={provider} etag={etag} />
        </>
      )}
    </AnswerView>
  );
}

interface Read {
  readonly provider: ProviderAnswer;
  readonly etag: string | undefined;
}

function Definition({ provider, etag, onStale }: Read & { readonly onStale: () => void }): ReactNode {
  const [text, parts] = [useText(providersText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  // While somebody types, the form stays about the state that was read, whose tag refuses to overwrite what others changed.
  const [held, setHeld] = useState<Read>();
  const shown = held ?? { provider, etag };
  const [made, setMade] = useState<readonly (readonly [string, string])[]>();
  const schema = useAnswer('getAuthProviderTypeSchema', {
    parameters: { frontdoorId, type: provider.type },
  });
  const change = useChange('changeAuthProvider', { refreshes: ['auth-provider'] });
  const isChanged = isOutdated(held, etag);
  const submit = ({ name, data, fields }: TypedProvider) =>
    change.mutate(
      {
        parameters: { frontdoorId, id: provider.id },
        body: { name, data: patchOf(fields, shown.provider.data, data) },
        ifMatch: shown.etag,
      },
      {
        onSuccess: ({ body }) => {
          const secrets = madeSecrets(fields, data, body.data);
          if (secrets.length > 0) setMade(secrets);
          setHeld(undefined);
        },
      },
    );
  const loadNew = () => {
    change.reset();
    setHeld(undefined);
    onStale();
  };
  return (
    <Panel title={text.definition}>
      {may('changeAuthProvider') ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      {isChanged && !change.isPending ? <ChangedMeanwhile onLoad={loadNew} /> : null}
      <AnswerView answer={schema}>
        {({ body }) => (
          <ProviderForm
            key={shown.etag}
            schema={body as JsonSchema}
            name={shown.provider.name}
            data={shown.provider.data}
            error={change.error}
            isPending={change.isPending}
            isDisabled={!may('changeAuthProvider')}
            submit={text.save}
            onTyped={() => setHeld((before) => before ?? { provider, etag })}
            onSubmit={submit}
            onStale={loadNew}
          />
        )}
      </AnswerView>
      {change.isSuccess && held === undefined ? <p role="status">{text.saved}</p> : null}
      <SecretOnceDialog title={text.madeKeys} facts={made} onClose={() => setMade(undefined)}>
        <p>{text.madeKeysText}</p>
      </SecretOnceDialog>
    </Panel>
  );
}
