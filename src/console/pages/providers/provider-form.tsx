/** The name and the data of an auth provider, in a form that the schema of its type describes. */
import { Box } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { Form } from '../../parts/form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { useText } from '../../text/language.tsx';
import { dataOf, draftOf, UnreadableJson, type ProviderDraft } from './provider-draft.ts';
import { providersText } from './providers-text.ts';
import { fieldsOf, pathsOf, type SchemaField, type JsonSchema, type Values } from './schema-fields.ts';
import { SchemaFields } from './schema-form.tsx';

export interface TypedProvider {
  readonly name: string;
  readonly data: Values;
  readonly fields: readonly SchemaField[];
}

export function ProviderForm(props: {
  readonly schema: JsonSchema;
  readonly name: string;
  /** As the API shows it: with masked secrets. */
  readonly data: Values;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly isDisabled?: boolean;
  readonly submit: string;
  /** Called at each change of a field. */
  readonly onTyped?: () => void;
  readonly onSubmit: (typed: TypedProvider) => void;
  readonly onStale?: () => void;
}): ReactNode {
  const text = useText(providersText);
  const { schema } = props;
  const [name, setName] = useState(props.name);
  const [draft, setDraft] = useState<ProviderDraft>(() => draftOf(fieldsOf(schema), props.data));
  const [unreadable, setUnreadable] = useState<Error | null>(null);
  const fields = fieldsOf(schema, draft);
  const submit = () => {
    try {
      setUnreadable(null);
      props.onSubmit({ name, data: dataOf(fields, draft), fields });
    } catch (error) {
      if (!(error instanceof UnreadableJson)) throw error;
      setUnreadable(new ApiError(400, 'invalid_request', `Value for ${error.path}: ${text.notJson}`));
    }
  };
  return (
    <Form
      fields={['name', ...pathsOf(fields, 'data', (path) => itemCount(draft, path))]}
      error={unreadable ?? props.error}
      isPending={props.isPending}
      isDisabled={props.isDisabled}
      submit={props.submit}
      onSubmit={submit}
      onStale={props.onStale}
    >
      <Box mb="md">
        <NameField
          label={text.name}
          description={text.nameHelp}
          value={name}
          onChange={(next) => {
            props.onTyped?.();
            setName(next);
          }}
        />
      </Box>
      <SchemaFields
        fields={fields}
        draft={draft}
        path="data"
        onChange={(next) => {
          props.onTyped?.();
          setDraft(next);
        }}
      />
    </Form>
  );
}

/** `data.keys` has as many items as the draft's `keys`. */
function itemCount(draft: ProviderDraft, path: string): number {
  const value = path
    .split('.')
    .slice(1)
    .reduce<unknown>((found, name) => (found as ProviderDraft | undefined)?.[name], draft);
  return Array.isArray(value) ? value.length : 0;
}
