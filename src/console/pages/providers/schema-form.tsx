/** The fields of a form that a JSON Schema describes. Messages of the API about `data.keys.0.name` appear at that field. */
import { Fieldset, NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { EntryList } from '../../parts/entry-list.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { ExactTime } from '../../parts/time-ago.tsx';
import { Facts } from '../../parts/page-title.tsx';
import { TimeInput } from '../../parts/time-input.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { draftOf, shownText, type ProviderDraft } from './provider-draft.ts';
import { providersText } from './providers-text.ts';
import type { SchemaField } from './schema-fields.ts';
import { SecretField } from './secret-field.tsx';
import { useFieldTexts } from './type-facts.ts';

type FieldOf<Kind extends SchemaField['kind']> = Extract<SchemaField, { readonly kind: Kind }>;

interface FieldProps<F extends SchemaField = SchemaField> {
  readonly field: F;
  readonly value: unknown;
  readonly path: string;
  /** Whether a list of objects has this field: an empty secret there is made by the service. */
  readonly isItem: boolean;
  readonly onChange: (value: unknown) => void;
}

export function SchemaFields(props: {
  readonly fields: readonly SchemaField[];
  readonly draft: ProviderDraft;
  readonly path: string;
  readonly isItem?: boolean;
  readonly onChange: (draft: ProviderDraft) => void;
}): ReactNode {
  const { fields, draft, path, isItem = false, onChange } = props;
  return fields.map((field) => (
    <OneField
      key={field.name}
      field={field}
      value={draft[field.name]}
      path={`${path}.${field.name}`}
      isItem={isItem}
      onChange={(value) => onChange({ ...draft, [field.name]: value })}
    />
  ));
}

/** Label and help of a field: those of its type, else `Client id` for `client_id` and the description of the schema. */
function useTexts({ name, help }: SchemaField, path: string) {
  const known = useFieldTexts()(path);
  const words = name.replaceAll(/[_-]+/g, ' ').replaceAll(/([a-z])([A-Z])/g, '$1 $2');
  const label = words.slice(0, 1).toUpperCase() + words.slice(1).toLowerCase();
  return { label: known.label ?? label, help: known.help ?? help };
}

/** Descriptions of the API have no full stop at their end. */
function sentences(help: string | undefined, more: string): string {
  return help === undefined ? more : `${help.replace(/[.]?$/, '.')} ${more}`;
}

function OneField({ field, ...props }: FieldProps): ReactNode {
  switch (field.kind) {
    case 'list':
      return <ListField {...props} field={field} />;
    case 'group':
      return <GroupField {...props} field={field} />;
    case 'variants':
      return <VariantsField {...props} field={field} />;
    case 'shown':
      return <ShownField {...props} field={field} />;
    default:
      return <OneValue {...props} field={field} />;
  }
}

type ValueField = Exclude<
  SchemaField,
  FieldOf<'list'> | FieldOf<'group'> | FieldOf<'variants'> | FieldOf<'shown'>
>;

function OneValue({ field, value, path, isItem, onChange }: FieldProps<ValueField>): ReactNode {
  const [text, parts] = [useText(providersText), useText(partsText)];
  const shown = shownText(value);
  const { label, help } = useTexts(field, path);
  const common = {
    label: field.isRequired ? label : `${label} (${text.optional})`,
    description: help,
    error: useFieldError(path),
    required: field.isRequired,
    value: shown,
    onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onChange(currentTarget.value),
    mb: 'md',
  };
  switch (field.kind) {
    case 'secret':
      return <SecretField {...common} isItem={isItem} label={common.label} onChange={onChange} />;
    case 'choice':
      return (
        <NativeSelect
          {...common}
          data={[...(field.isRequired && shown !== '' ? [] : [{ value: '', label: '' }]), ...field.values]}
        />
      );
    case 'boolean':
      return (
        <NativeSelect
          {...common}
          data={[
            { value: '', label: text.byDefault },
            { value: 'true', label: parts.yes },
            { value: 'false', label: parts.no },
          ]}
        />
      );
    case 'time':
      return <TimeInput {...common} onChange={onChange} />;
    case 'texts':
      return (
        <Textarea
          {...common}
          description={sentences(common.description, text.lines)}
          rows={3}
          spellCheck={false}
        />
      );
    case 'json':
      return (
        <Textarea
          {...common}
          description={sentences(common.description, text.json)}
          rows={5}
          spellCheck={false}
          classNames={{ input: 'fd-mono' }}
        />
      );
    case 'number':
      return <TextInput {...common} inputMode={field.isInteger ? 'numeric' : 'decimal'} autoComplete="off" />;
    default:
      return (
        <TextInput
          {...common}
          type={field.kind === 'address' ? 'url' : 'text'}
          maxLength={field.maxLength}
          autoComplete="off"
          spellCheck={false}
        />
      );
  }
}

function ListField({ field, value, path, onChange }: FieldProps<FieldOf<'list'>>): ReactNode {
  const [text, format] = [useText(providersText), useFormat()];
  const { label, help } = useTexts(field, path);
  const nameOf = (item: ProviderDraft, at: number) => {
    const name = item['name'];
    return typeof name === 'string' && name !== '' ? name : text.item(label, format.number(at + 1));
  };
  return (
    <EntryList
      name={path}
      legend={label}
      help={help}
      entries={value as readonly ProviderDraft[]}
      nameOf={nameOf}
      minEntries={field.minItems}
      add={text.addTo(label)}
      remove={text.removeFrom}
      newEntry={() => draftOf(field.fields, {})}
      onChange={onChange}
    >
      {(item, place) => (
        <SchemaFields isItem fields={field.fields} draft={item} path={place.path} onChange={place.onChange} />
      )}
    </EntryList>
  );
}

function GroupField({ field, value, path, onChange }: FieldProps<FieldOf<'group'>>): ReactNode {
  const { label, help } = useTexts(field, path);
  const error = useFieldError(path, true);
  return (
    <Fieldset legend={label} mb="md">
      <p className="fd-soft fd-small">{help}</p>
      {error === undefined ? null : <p className="fd-bad">{error}</p>}
      <SchemaFields fields={field.fields} draft={value as ProviderDraft} path={path} onChange={onChange} />
    </Fieldset>
  );
}

function VariantsField({ field, value, path, onChange }: FieldProps<FieldOf<'variants'>>): ReactNode {
  const text = useText(providersText);
  const { label, help } = useTexts(field, path);
  const error = useFieldError(path, true);
  const { at, draft } = value as { readonly at: number; readonly draft: ProviderDraft };
  return (
    <Fieldset legend={label} mb="md">
      <p className="fd-soft fd-small">{help}</p>
      <NativeSelect
        mb="md"
        label={text.form}
        error={error}
        value={String(at)}
        onChange={({ currentTarget }) => {
          const next = Number(currentTarget.value);
          onChange({ at: next, draft: draftOf(field.variants[next]!.fields, {}) });
        }}
        data={field.variants.map(({ title }, index) => ({ value: String(index), label: title }))}
      />
      <SchemaFields
        fields={field.variants[at]!.fields}
        draft={draft}
        path={path}
        onChange={(next) => onChange({ at, draft: next })}
      />
    </Fieldset>
  );
}

/** A value that the API sets. */
function ShownField({ field, value, path }: FieldProps<FieldOf<'shown'>>): ReactNode {
  const { label } = useTexts(field, path);
  if (value === undefined) return null;
  const isTime = value === null || (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value));
  const shown = isTime ? <ExactTime at={value} /> : JSON.stringify(value);
  return <Facts facts={[[label, shown]]} />;
}
