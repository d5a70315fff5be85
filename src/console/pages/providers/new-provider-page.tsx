/** A new auth provider: first its type, then the fields of the type. Keys that the service makes are shown once. */
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { BodyOf } from '#contract';
import { isApiError } from '../../api/api-error.ts';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import type { SentChange } from '../../parts/edit-form.tsx';
import { Form } from '../../parts/form.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useSearchState } from '../../parts/search-state.tsx';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { useText } from '../../text/language.tsx';
import { DraftCheck, useDraftCheck } from './draft-check.tsx';
import { draftOf, madeSecrets } from './provider-draft.ts';
import { ProviderFields, useProviderForm, type ProviderEntry, type TypedProvider } from './provider-form.tsx';
import { ProviderSetup } from './provider-setup.tsx';
import { useProviderTypes, useTypeName } from './provider-types.tsx';
import { providersText } from './providers-text.ts';
import { useReservation } from './reservations.ts';
import { fieldsOf, type JsonSchema } from './schema-fields.ts';
import { hasKeys, useTextsOfTypes, useTypeTexts, type GuideTexts } from './type-facts.ts';

type NewProvider = NonNullable<BodyOf<'createAuthProvider'>>;

export function NewProviderPage(): ReactNode {
  const [text, parts] = [useText(providersText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const type = useSearchState().textOf('type');
  const typeName = useTypeName();
  const { may } = useSession();
  return (
    <>
      <PageTitle
        title={type === '' ? text.newProvider : text.newOf(typeName(type))}
        above={
          <Link to="/frontdoors/$frontdoorId/providers" params={{ frontdoorId }}>
            {text.providers}
          </Link>
        }
      />
      {may('createAuthProvider') ? null : <p>{parts.roleTooLow}</p>}
      {type === '' ? <TypeChoice /> : <NewOfType key={type} type={type} />}
    </>
  );
}

function TypeChoice(): ReactNode {
  const text = useText(providersText);
  const frontdoorId = useFrontdoorId();
  const textsOf = useTextsOfTypes();
  return (
    <Panel title={text.chooseType}>
      <AnswerView answer={useProviderTypes()}>
        {({ body: types }) => (
          <dl className="fd-types">
            {types.map(({ type, displayName, description }) => (
              <div key={type}>
                <dt>
                  <Link
                    to="/frontdoors/$frontdoorId/providers/new"
                    params={{ frontdoorId }}
                    search={{ type }}
                  >
                    {textsOf(type).displayName ?? displayName}
                  </Link>
                </dt>
                <dd className="fd-soft">
                  {textsOf(type).description ?? description}
                  <Guides type={type} guides={textsOf(type).guides} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </AnswerView>
    </Panel>
  );
}

/** Products with steps of their own. */
function Guides({
  type,
  guides,
}: {
  readonly type: string;
  readonly guides: readonly GuideTexts[];
}): ReactNode {
  const text = useText(providersText);
  const frontdoorId = useFrontdoorId();
  if (guides.length === 0) return null;
  return (
    <ul className="fd-plain" aria-label={text.guides}>
      {guides.map(({ name, displayName }) => (
        <li key={name}>
          <Link
            to="/frontdoors/$frontdoorId/providers/new"
            params={{ frontdoorId }}
            search={{ type, guide: name }}
          >
            {displayName}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function NewOfType({ type }: { readonly type: string }): ReactNode {
  const text = useText(providersText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const navigate = useNavigate();
  const idempotencyKey = useIdempotencyKey();
  const texts = useTypeTexts(type);
  const guide = useSearchState().textOf('guide');
  const reserved = useReservation(frontdoorId, !hasKeys(type));
  const [made, setMade] = useState<readonly (readonly [string, string])[]>();
  const [createdId, setCreatedId] = useState<string>();
  const open = (providerId: string) =>
    void navigate({
      to: '/frontdoors/$frontdoorId/providers/$providerId',
      params: { frontdoorId, providerId },
    });
  const create = useChange('createAuthProvider', { refreshes: ['auth-provider'] });
  const submit = ({ name, data, fields }: TypedProvider) =>
    create.mutate(
      {
        parameters: { frontdoorId },
        body: {
          name,
          type: type as NewProvider['type'],
          data,
          ...reserved.field,
        },
        idempotencyKey,
      },
      {
        onError: (error) => {
          if (isApiError(error, 409)) reserved.replace();
        },
        onSuccess: ({ body }) => {
          reserved.used();
          const secrets = madeSecrets(fields, data, body.data);
          if (secrets.length === 0) open(body.id);
          else {
            setMade(secrets);
            setCreatedId(body.id);
          }
        },
      },
    );
  return (
    <Panel>
      <p>
        <Link to="/frontdoors/$frontdoorId/providers/new" params={{ frontdoorId }} search={{}}>
          {text.otherType}
        </Link>
      </p>
      <ProviderSetup
        steps={texts.guides.find(({ name }) => name === guide)?.steps ?? texts.steps}
        reservation={reserved.answer}
        isPermitted={may('createAuthProvider')}
      />
      <AnswerView answer={useAnswer('getAuthProviderTypeSchema', { parameters: { frontdoorId, type } })}>
        {({ body: schema }) => (
          <NewProviderForm
            type={type}
            create={create}
            schema={schema as JsonSchema}
            isDisabled={!may('createAuthProvider') || createdId !== undefined}
            onSubmit={submit}
          />
        )}
      </AnswerView>
      <SecretOnceDialog title={text.madeKeys} facts={made} onClose={() => open(createdId!)}>
        <p>{text.madeKeysText}</p>
      </SecretOnceDialog>
    </Panel>
  );
}

function NewProviderForm(props: {
  readonly type: string;
  readonly schema: JsonSchema;
  readonly create: Pick<SentChange, 'error' | 'isPending' | 'reset'>;
  readonly isDisabled: boolean;
  readonly onSubmit: (typed: TypedProvider) => void;
}): ReactNode {
  const text = useText(providersText);
  const { type, schema, create, isDisabled } = props;
  const [entry, setEntry] = useState<ProviderEntry>(() => ({
    name: '',
    draft: draftOf(fieldsOf(schema), {}),
  }));
  const check = useDraftCheck(type);
  const { paths, unreadable, submit, withTyped } = useProviderForm(schema, entry, (typed) => {
    check.reset();
    props.onSubmit(typed);
  });
  return (
    <Form
      fields={paths}
      error={unreadable ?? create.error ?? check.error}
      isPending={create.isPending}
      isDisabled={isDisabled}
      submit={text.create}
      onSubmit={submit}
    >
      <ProviderFields
        type={type}
        schema={schema}
        entry={entry}
        onChange={(changes) => {
          if (changes.draft !== undefined) check.reset();
          setEntry((before) => ({ ...before, ...changes }));
        }}
      />
      <DraftCheck
        type={type}
        state={check}
        onCheck={() => {
          create.reset();
          withTyped(({ data }) => check.check(data));
        }}
      />
    </Form>
  );
}
