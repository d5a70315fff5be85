/** The fields of the upstream settings, one component for each kind of `upstream-draft.ts`. */
import { Alert, NativeSelect, Radio } from '@mantine/core';
import type { ReactNode } from 'react';
import { EntryList, type EntryPlace } from '../../parts/entry-list.tsx';
import { FlagField } from '../../parts/flag-field.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { LinesField, TextField } from '../../parts/text-field.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { AnswersField, RoutesField } from './path-fields.tsx';
import {
  UPSTREAM_FIELDS,
  type HeaderDraft,
  type UpstreamDraft,
  type UpstreamField,
} from './upstream-draft.ts';
import { upstreamText } from './upstream-text.ts';

const ACTIONS = ['set', 'add', 'remove'] as const satisfies readonly HeaderDraft['action'][];

interface FieldProps<Value> {
  readonly name: UpstreamField;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

export function OneSetting(props: {
  readonly name: UpstreamField;
  readonly draft: UpstreamDraft;
  readonly onChange: (changes: Partial<UpstreamDraft>) => void;
}): ReactNode {
  const text = useText(upstreamText);
  const { name, draft } = props;
  const onChange = (value: UpstreamDraft[UpstreamField]) => props.onChange({ [name]: value });
  if (name === 'routes') return <RoutesField value={draft.routes} onChange={onChange} />;
  if (name === 'answers') return <AnswersField value={draft.answers} onChange={onChange} />;
  if (name === 'requestHeaders' || name === 'responseHeaders')
    return <HeadersField name={name} value={draft[name]} onChange={onChange} />;
  const value = draft[name];
  if (typeof value === 'boolean') return <FlagWithWarning name={name} value={value} onChange={onChange} />;
  const texts = { name, label: text[name], description: text[`${name}Help`] };
  const { kind } = UPSTREAM_FIELDS[name];
  if (kind === 'host') return <HostField name={name} value={value} onChange={onChange} />;
  if (kind === 'lines' || kind === 'message')
    return <LinesField {...texts} value={value} onChange={onChange} />;
  return <TextField {...texts} value={value} onChange={onChange} />;
}

function FlagWithWarning({ name, value, onChange }: FieldProps<boolean>): ReactNode {
  const text = useText(upstreamText);
  return (
    <>
      <FlagField
        name={name}
        label={text[name]}
        description={text[`${name}Help`]}
        value={value}
        onChange={onChange}
      />
      {value && name === 'tlsInsecure' ? (
        <Alert variant="outline" color="yellow" icon={<Icon name="warning" />} role="alert" mb="md">
          {text.tlsInsecureWarning}
        </Alert>
      ) : null}
    </>
  );
}

const WORDS = ['preserve', 'target'];

/** `preserve`, `target` or a name. */
function HostField({ name, value, onChange }: FieldProps<string>): ReactNode {
  const text = useText(upstreamText);
  const error = useFieldError(name);
  const isOther = !WORDS.includes(value);
  return (
    <>
      <Radio.Group
        label={text.hostHeader}
        description={text.hostHeaderHelp}
        value={isOther ? 'other' : value}
        error={isOther ? undefined : error}
        onChange={(chosen) => onChange(chosen === 'other' ? '' : chosen)}
        mb="md"
      >
        <div className="fd-choices">
          <Radio value="preserve" label={text.hostPreserve} />
          <Radio value="target" label={text.hostTarget} />
          <Radio value="other" label={text.hostOther} />
        </div>
      </Radio.Group>
      {isOther ? (
        <TextField
          name={name}
          label={text.hostName}
          description={text.hostNameHelp}
          value={value}
          onChange={onChange}
        />
      ) : null}
    </>
  );
}

function HeadersField({ name, value, onChange }: FieldProps<readonly HeaderDraft[]>): ReactNode {
  const [text, format] = [useText(upstreamText), useFormat()];
  return (
    <EntryList
      name={name}
      legend={text[name]}
      help={text[`${name}Help`]}
      entries={value}
      nameOf={(rule, at) => (rule.name === '' ? text.headerOf(format.number(at + 1)) : rule.name)}
      add={name === 'requestHeaders' ? text.addRequestHeader : text.addResponseHeader}
      remove={text.removeHeader}
      newEntry={(): HeaderDraft => ({ action: 'set', name: '', value: '' })}
      onChange={onChange}
    >
      {(rule, place) => <HeaderFields rule={rule} {...place} />}
    </EntryList>
  );
}

function HeaderFields(props: EntryPlace<HeaderDraft> & { readonly rule: HeaderDraft }): ReactNode {
  const text = useText(upstreamText);
  const { path, rule, onChange } = props;
  return (
    <>
      <NativeSelect
        label={text.action}
        value={rule.action}
        onChange={({ currentTarget }) =>
          onChange({ ...rule, action: currentTarget.value as HeaderDraft['action'] })
        }
        data={ACTIONS.map((action) => ({ value: action, label: text.actionOf(action) }))}
        mb="md"
      />
      <TextField
        name={`${path}.name`}
        label={text.name}
        value={rule.name}
        onChange={(name) => onChange({ ...rule, name })}
      />
      {rule.action === 'remove' ? null : (
        <TextField
          name={`${path}.value`}
          label={text.value}
          value={rule.value}
          onChange={(value) => onChange({ ...rule, value })}
        />
      )}
    </>
  );
}
