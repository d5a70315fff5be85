/** One auth provider: its definition, its state, a test, its uses, and the people who are logged in with it. */
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { ProviderAnswer } from '#contract/schemas';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { DeleteProvider } from './delete-provider.tsx';
import { DraftCheck, useDraftCheck } from './draft-check.tsx';
import { LoginSessions } from './login-sessions.tsx';
import { ProviderCheck } from './provider-check.tsx';
import { draftOf, madeSecrets, patchOf } from './provider-draft.ts';
import { ProviderFields, useProviderForm, type ProviderEntry, type TypedProvider } from './provider-form.tsx';
import { ProviderSwitch } from './provider-switch.tsx';
import { ProviderState, useTypeName } from './provider-types.tsx';
import { ProviderUses } from './provider-uses.tsx';
import { providersText } from './providers-text.ts';
import { fieldsOf, type JsonSchema } from './schema-fields.ts';
import { hasKeys } from './type-facts.ts';

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
          {hasKeys(provider.type) ? null : <ProviderCheck key={etag} provider={provider} />}
          <ProviderUses id={id} />
          <Definition key={provider.id} now={{ body: provider, etag }} reload={reloadOf(answer)} />
          <LoginSessions provider={provider} />
          <DeleteProvider provider={provider} etag={etag} />
        </>
      )}
    </AnswerView>
  );
}

type DefinitionProps = Editable<ProviderAnswer>;

function Definition(props: DefinitionProps): ReactNode {
  const [text, parts] = [useText(providersText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const { type } = props.now.body;
  const schema = useAnswer('getAuthProviderTypeSchema', { parameters: { frontdoorId, type } });
  return (
    <Panel title={text.definition}>
      {may('changeAuthProvider') ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      <AnswerView answer={schema}>
        {({ body }) => <DefinitionForm schema={body as JsonSchema} {...props} />}
      </AnswerView>
    </Panel>
  );
}

function DefinitionForm({
  schema,
  now,
  reload,
}: DefinitionProps & { readonly schema: JsonSchema }): ReactNode {
  const text = useText(providersText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const [made, setMade] = useState<readonly (readonly [string, string])[]>();
  const edit = useEdit({
    now,
    reload,
    draftOf: ({ name, data }): ProviderEntry => ({ name, draft: draftOf(fieldsOf(schema), data) }),
  });
  const { body: base, etag } = edit.base;
  const change = useChange('changeAuthProvider', { refreshes: ['auth-provider'], onDone: edit.saved });
  const check = useDraftCheck(base.type);
  const send = ({ name, data, fields }: TypedProvider) => {
    check.reset();
    change.mutate(
      {
        parameters: { frontdoorId, id: base.id },
        body: { name, data: patchOf(fields, base.data, data) },
        ifMatch: etag,
      },
      {
        onSuccess: ({ body }) => {
          const secrets = madeSecrets(fields, data, body.data);
          if (secrets.length > 0) setMade(secrets);
        },
      },
    );
  };
  const { paths, unreadable, submit, withTyped } = useProviderForm(schema, edit.draft, send);
  return (
    <>
      <EditForm
        edit={edit}
        change={change}
        error={unreadable ?? check.error}
        fields={paths}
        isDisabled={!may('changeAuthProvider')}
        submit={text.save}
        saved={text.saved}
        onSubmit={submit}
      >
        <ProviderFields
          type={base.type}
          schema={schema}
          entry={edit.draft}
          onChange={(changes) => {
            if (changes.draft !== undefined) check.reset();
            edit.type(changes);
          }}
        />
        {edit.isTyped ? (
          <DraftCheck
            type={base.type}
            state={check}
            onCheck={() => {
              change.reset();
              withTyped(({ data }) => check.check(data));
            }}
          />
        ) : null}
      </EditForm>
      <SecretOnceDialog title={text.madeKeys} facts={made} onClose={() => setMade(undefined)}>
        <p>{text.madeKeysText}</p>
      </SecretOnceDialog>
    </>
  );
}
