/** The name and the data of an auth provider, in fields that the schema of its type describes. */
import { useState, type ReactNode } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { NameField } from '../../parts/name-field.tsx';
import { useText } from '../../text/language.tsx';
import { dataOf, UnreadableJson, type ProviderDraft } from './provider-draft.ts';
import { providersText } from './providers-text.ts';
import { fieldsOf, pathsOf, type SchemaField, type JsonSchema, type Values } from './schema-fields.ts';
import { SchemaFields } from './schema-form.tsx';
import { ProviderTypeContext } from './type-facts.ts';

/** Name and data as someone types them. */
export interface ProviderEntry {
  readonly name: string;
  readonly draft: ProviderDraft;
}

export interface TypedProvider {
  readonly name: string;
  readonly data: Values;
  readonly fields: readonly SchemaField[];
}

interface ProviderFormState {
  /** Paths of the fields, for the API's messages about them. */
  readonly paths: readonly string[];
  /** JSON that cannot be read. */
  readonly unreadable: Error | null;
  submit(): void;
  /** Calls with the typed values, unless some JSON among them cannot be read. */
  withTyped(act: (typed: TypedProvider) => void): void;
}

/** The parts of the form of a provider besides its fields. `onSubmit` gets data that can be sent. */
export function useProviderForm(
  schema: JsonSchema,
  { name, draft }: ProviderEntry,
  onSubmit: (typed: TypedProvider) => void,
): ProviderFormState {
  const text = useText(providersText);
  const [unreadable, setUnreadable] = useState<Error | null>(null);
  const fields = fieldsOf(schema, draft);
  const withTyped: ProviderFormState['withTyped'] = (act) => {
    try {
      setUnreadable(null);
      act({ name, data: dataOf(fields, draft), fields });
    } catch (error) {
      if (!(error instanceof UnreadableJson)) throw error;
      setUnreadable(new ApiError(400, 'invalid_request', `Value for ${error.path}: ${text.notJson}`));
    }
  };
  return {
    unreadable,
    withTyped,
    paths: ['name', ...pathsOf(fields, 'data', (path) => itemCount(draft, path))],
    submit: () => withTyped(onSubmit),
  };
}

export function ProviderFields(props: {
  readonly type: string;
  readonly schema: JsonSchema;
  readonly entry: ProviderEntry;
  readonly onChange: (changes: Partial<ProviderEntry>) => void;
}): ReactNode {
  const text = useText(providersText);
  const { schema, entry, onChange } = props;
  return (
    <>
      <NameField
        label={text.name}
        description={text.nameHelp}
        value={entry.name}
        onChange={(name) => onChange({ name })}
      />
      <ProviderTypeContext value={props.type}>
        <SchemaFields
          fields={fieldsOf(schema, entry.draft)}
          draft={entry.draft}
          path="data"
          onChange={(draft) => onChange({ draft })}
        />
      </ProviderTypeContext>
    </>
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
