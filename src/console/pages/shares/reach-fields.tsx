/** Fields about where a share is served and which machines reach it, of the form of a new share and of its settings. */
import { Checkbox, NativeSelect, Radio, TextInput } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import {
  BACKEND_MODE_TABLE,
  BACKEND_MODES,
  INGRESS_KINDS,
  MAX_TARGET_LENGTH,
  type IngressKind,
} from '#domain/backend-modes';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { useText } from '../../text/language.tsx';
import { optionText } from './backend-mode-text.ts';
import { newShareText } from './new-share-text.ts';
import { MAX_CHOICES, PickMany } from './pick-many.tsx';
import {
  completedTarget,
  hasPort,
  ingressKinds,
  targetOptions,
  withTargetOption,
  type IngressDraft,
} from './share-draft.ts';

const TYPING_MS = 300;
const EXAMPLES = BACKEND_MODES.map((mode) => BACKEND_MODE_TABLE[mode].example).join(', ');

/** The value as it was when nobody typed for a moment. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

export function TargetField(props: {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: string | undefined;
}): ReactNode {
  const text = useText(newShareText);
  const fieldError = useFieldError('target');
  const completed = completedTarget(props.value);
  const hint = text.targetHint(EXAMPLES);
  const becomes = completed === props.value.trim() ? '' : ` ${text.targetBecomes(completed)}`;
  return (
    <>
      <TextInput
        required
        label={text.target}
        description={`${hint}${becomes}`}
        placeholder={BACKEND_MODE_TABLE.proxy.example}
        value={props.value}
        maxLength={MAX_TARGET_LENGTH}
        inputMode="url"
        spellCheck={false}
        autoComplete="off"
        error={props.error ?? fieldError}
        onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
      />
      <TargetOptions target={completed} onChange={props.onChange} />
    </>
  );
}

function TargetOptions(props: {
  readonly target: string;
  readonly onChange: (target: string) => void;
}): ReactNode {
  const labels: Readonly<Record<string, string>> = useText(optionText);
  return Object.entries(targetOptions(props.target)).map(([name, isOn]) => (
    <Checkbox
      key={name}
      label={labels[name]}
      checked={isOn}
      onChange={({ currentTarget }) =>
        props.onChange(withTargetOption(props.target, name, currentTarget.checked))
      }
    />
  ));
}

export function ModeField(props: {
  readonly value: string;
  readonly onChange: (value: 'public' | 'private') => void;
}): ReactNode {
  const text = useText(newShareText);
  return (
    <Radio.Group
      label={text.mode}
      value={props.value}
      error={useFieldError('backendMode')}
      onChange={(value) => props.onChange(value === 'private' ? 'private' : 'public')}
    >
      <div className="fd-choices">
        <Radio value="public" label={text.public} description={text.publicHint} />
        <Radio value="private" label={text.private} description={text.privateHint} />
      </div>
    </Radio.Group>
  );
}

/** How clients reach a share over TCP or UDP. Nothing for other shares. */
export function IngressFields(props: {
  readonly draft: IngressDraft;
  readonly set: (change: Partial<Pick<IngressDraft, 'ingress' | 'port'>>) => void;
}): ReactNode {
  const { draft, set } = props;
  const kinds = ingressKinds(draft);
  return (
    <>
      {kinds.length > 1 ? (
        <IngressField kinds={kinds} value={draft.ingress} onChange={(ingress) => set({ ingress })} />
      ) : null}
      {hasPort(draft) ? <PortField value={draft.port} onChange={(port) => set({ port })} /> : null}
    </>
  );
}

function IngressField(props: {
  readonly kinds: readonly IngressKind[];
  readonly value: IngressKind;
  readonly onChange: (value: IngressKind) => void;
}): ReactNode {
  const text = useText(newShareText);
  return (
    <NativeSelect
      label={text.ingress}
      description={text.ingressHint(props.value)}
      value={props.value}
      error={useFieldError('ingress')}
      onChange={({ currentTarget: { value } }) =>
        props.onChange(INGRESS_KINDS.find((kind) => kind === value) ?? 'port')
      }
      data={props.kinds.map((value) => ({ value, label: text.ingressKind(value) }))}
    />
  );
}

function PortField(props: { readonly value: string; readonly onChange: (value: string) => void }): ReactNode {
  const text = useText(newShareText);
  return (
    <TextInput
      label={text.port}
      description={text.portHint}
      value={props.value}
      maxLength={5}
      inputMode="numeric"
      autoComplete="off"
      error={useFieldError('ingressPort')}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
    />
  );
}

export function FrontendsField(props: {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}): ReactNode {
  const text = useText(newShareText);
  const [filter, setFilter] = useState('');
  const answer = useAnswer('listFrontends', { parameters: { frontdoorId: useFrontdoorId() } });
  return (
    <AnswerView answer={answer}>
      {({ body }) => (
        <PickMany
          label={text.frontends}
          hint={text.frontendsHint}
          field="frontendIds"
          choices={body
            .filter(({ publicName, urlTemplate }) => `${publicName} ${urlTemplate}`.includes(filter.trim()))
            .slice(0, MAX_CHOICES)
            .map(({ id, publicName, urlTemplate }) => ({ id, label: publicName, hint: urlTemplate }))}
          chosen={props.chosen}
          onChange={props.onChange}
          filter={filter}
          onFilter={setFilter}
          empty={<p>{text.noFrontends}</p>}
        />
      )}
    </AnswerView>
  );
}

export function GrantsField(props: {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  /** The agent of the share, which needs no grant. */
  readonly ownId: string;
}): ReactNode {
  const text = useText(newShareText);
  const [filter, setFilter] = useState('');
  const answer = useAnswer('listEnvironments', {
    parameters: { frontdoorId: useFrontdoorId() },
    query: { size: MAX_CHOICES, sort: 'name,asc', name: useSettled(filter.trim()) },
  });
  return (
    <AnswerView answer={answer}>
      {({ body }) => (
        <PickMany
          label={text.grants}
          hint={text.grantsHint}
          field="grants"
          choices={body.content
            .filter(({ id }) => id !== props.ownId || props.chosen.includes(id))
            .map(({ id, name, status }) => ({
              id,
              label: status === 'INACTIVE' ? text.agentAway(name) : name,
            }))}
          chosen={props.chosen}
          onChange={props.onChange}
          filter={filter}
          onFilter={setFilter}
          empty={<p>{text.noMachines}</p>}
        />
      )}
    </AnswerView>
  );
}
