/** The rules that are set, each as a card with its sentence; the others can be added. */
import { Button, Group, NativeSelect } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { setRules, type SentencePolicy } from '#contract/access-sentences';
import { useText } from '../../text/language.tsx';
import { useAccessSentences } from './access-sentences.tsx';
import { accessText } from './access-text.ts';
import type { SectionProps } from './policy-fields.tsx';
import { unsetRule, type PolicyDraft } from './policy-draft.ts';
import { questionText } from './question-text.ts';
import { RULES } from './rule-fields.tsx';

export interface OpenRules {
  readonly names: readonly string[];
  open(name: string): void;
  close(name: string): void;
  closeAll(): void;
}

export function useOpenRules(): OpenRules {
  const [names, setNames] = useState<readonly string[]>([]);
  return {
    names,
    open: (name) => setNames((before) => [...before.filter((each) => each !== name), name]),
    close: (name) => setNames((before) => before.filter((each) => each !== name)),
    closeAll: () => setNames([]),
  };
}

/** Names of the fields that are on the page, at which messages about them appear. */
export function fieldsOf({ names }: OpenRules, { claims, basicAuth }: PolicyDraft): readonly string[] {
  const within: Readonly<Record<string, readonly string[]>> = {
    claims: claims.flatMap((_rule, at) => [`claims.${at}.claim`, `claims.${at}.anyOf`]),
    basicAuth: basicAuth.flatMap((_user, at) => [`basicAuth.${at}.name`, `basicAuth.${at}.password`]),
    clientCertificate: ['clientCertificate.authorities', 'clientCertificate.names'],
  };
  return names.flatMap((name) => within[name] ?? [name]);
}

export function RuleCards(
  props: SectionProps & {
    /** The policy that the draft makes. */
    readonly wanted: SentencePolicy;
    readonly rules: OpenRules;
    readonly mayChange: boolean;
  },
): ReactNode {
  const [text, names] = [useText(accessText), useText(questionText)];
  const { wanted, rules, draft, set, isShared, mayChange } = props;
  const sentences = useAccessSentences(wanted, undefined);
  const shown = [...new Set([...setRules(wanted), ...rules.names])];
  return (
    <>
      {shown.length === 0 ? <p className="fd-soft">{text.noRules}</p> : null}
      {shown.map((name) => (
        <RuleCard
          key={name}
          name={name}
          title={names.fieldNames(name)}
          sentence={sentences
            .filter(({ field }) => field === name)
            .map((sentence) => sentence.text)
            .join(' ')}
          isOpen={rules.names.includes(name)}
          {...{ rules, draft, set, isShared, mayChange }}
        />
      ))}
      {mayChange ? <AddRule shown={shown} rules={rules} set={set} /> : null}
    </>
  );
}

function RuleCard(
  props: SectionProps & {
    readonly name: string;
    readonly title: string;
    readonly sentence: string;
    readonly isOpen: boolean;
    readonly rules: OpenRules;
    readonly mayChange: boolean;
  },
): ReactNode {
  const text = useText(accessText);
  const { name, title, isOpen, rules, draft, set, isShared } = props;
  // A rule of a later version can be neither shown as fields nor taken away without a loss.
  const row = Object.hasOwn(RULES, name) ? RULES[name] : undefined;
  return (
    <section className="fd-panel fd-rule" aria-label={title}>
      <Group justify="space-between" gap="xs">
        <h3 className="fd-h3">{title}</h3>
        {row === undefined || !props.mayChange ? null : (
          <Group gap="xs" wrap="nowrap">
            {isOpen ? null : (
              <Button
                size="xs"
                variant="default"
                aria-label={text.editRule(title)}
                onClick={() => rules.open(name)}
              >
                {text.edit}
              </Button>
            )}
            <Button
              size="xs"
              variant="default"
              aria-label={text.removeCard(title)}
              onClick={() => {
                rules.close(name);
                set(unsetRule(row.draft));
              }}
            >
              {text.remove}
            </Button>
          </Group>
        )}
      </Group>
      {isOpen && row !== undefined ? (
        <row.Fields draft={draft} set={set} isShared={isShared} />
      ) : (
        <p>{props.sentence}</p>
      )}
    </section>
  );
}

function AddRule(
  props: Pick<SectionProps, 'set'> & { readonly shown: readonly string[]; readonly rules: OpenRules },
) {
  const [text, names] = [useText(accessText), useText(questionText)];
  const { shown, rules, set } = props;
  const others = Object.keys(RULES).filter((name) => !shown.includes(name));
  if (others.length === 0) return null;
  return (
    <NativeSelect
      label={text.addRule}
      value=""
      onChange={({ currentTarget: { value } }) => {
        if (value === '') return;
        rules.open(value);
        const first = RULES[value]?.first;
        if (first !== undefined) set(first);
      }}
      data={[
        { value: '', label: text.chooseRule },
        ...others.map((name) => ({ value: name, label: names.fieldNames(name) })),
      ]}
      mb="md"
      maw="24rem"
    />
  );
}
