/** Services by path, and answers of the gateway, each in the order in which gateways match them. */
import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import { EntryList, type EntryPlace } from '../../parts/entry-list.tsx';
import { FlagField } from '../../parts/flag-field.tsx';
import { LinesField, TextField } from '../../parts/text-field.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import {
  compareAnswers,
  compareRoutes,
  NEW_ANSWER,
  NEW_ROUTE,
  type AnswerDraft,
  type RouteDraft,
} from './path-drafts.ts';
import { pathText } from './path-text.ts';
import { upstreamText } from './upstream-text.ts';

const KINDS = ['text', 'redirect'] as const satisfies readonly AnswerDraft['kind'][];

interface ListProps<Entry> {
  readonly value: readonly Entry[];
  readonly onChange: (value: readonly Entry[]) => void;
}

export function RoutesField({ value, onChange }: ListProps<RouteDraft>): ReactNode {
  const [text, setting, format] = [useText(pathText), useText(upstreamText), useFormat()];
  return (
    <EntryList
      name="routes"
      legend={setting.routes}
      help={setting.routesHelp}
      entries={value}
      nameOf={({ path }, at) => (path === '' ? text.routeOf(format.number(at + 1)) : path)}
      compare={compareRoutes}
      add={text.addRoute}
      remove={text.remove}
      newEntry={() => NEW_ROUTE}
      onChange={onChange}
    >
      {(route, place) => <RouteFields route={route} {...place} />}
    </EntryList>
  );
}

function RouteFields(props: EntryPlace<RouteDraft> & { readonly route: RouteDraft }): ReactNode {
  const text = useText(pathText);
  const { path: name, route, onChange } = props;
  return (
    <>
      <TextField
        name={`${name}.path`}
        label={text.path}
        description={text.routePathHelp}
        value={route.path}
        onChange={(path) => onChange({ ...route, path })}
      />
      <TextField
        name={`${name}.target`}
        label={text.target}
        description={text.targetHelp}
        value={route.target}
        onChange={(target) => onChange({ ...route, target })}
      />
      <FlagField
        name={`${name}.stripPath`}
        label={text.stripPath}
        description={text.stripPathHelp}
        value={route.stripPath}
        onChange={(stripPath) => onChange({ ...route, stripPath })}
      />
    </>
  );
}

export function AnswersField({ value, onChange }: ListProps<AnswerDraft>): ReactNode {
  const [text, setting, format] = [useText(pathText), useText(upstreamText), useFormat()];
  return (
    <EntryList
      name="answers"
      legend={setting.answers}
      help={setting.answersHelp}
      entries={value}
      nameOf={({ path }, at) => (path === '' ? text.answerOf(format.number(at + 1)) : path)}
      compare={compareAnswers}
      add={text.addAnswer}
      remove={text.remove}
      newEntry={() => NEW_ANSWER}
      onChange={onChange}
    >
      {(answer, place) => <AnswerFields answer={answer} {...place} />}
    </EntryList>
  );
}

function AnswerFields(props: EntryPlace<AnswerDraft> & { readonly answer: AnswerDraft }): ReactNode {
  const text = useText(pathText);
  const { path: name, answer, onChange } = props;
  const isText = answer.kind === 'text';
  return (
    <>
      <TextField
        name={`${name}.path`}
        label={text.path}
        description={text.answerPathHelp}
        value={answer.path}
        onChange={(path) => onChange({ ...answer, path })}
      />
      <NativeSelect
        label={text.kind}
        value={answer.kind}
        // A status of a text is none of a redirect.
        onChange={({ currentTarget }) =>
          onChange({ ...answer, kind: currentTarget.value as AnswerDraft['kind'], status: '' })
        }
        data={KINDS.map((kind) => ({ value: kind, label: text.kinds(kind) }))}
        mb="md"
      />
      {isText ? (
        <>
          <LinesField
            name={`${name}.text`}
            label={text.text}
            value={answer.text}
            onChange={(typed) => onChange({ ...answer, text: typed })}
          />
          <TextField
            name={`${name}.contentType`}
            label={text.contentType}
            description={text.contentTypeHelp}
            value={answer.contentType}
            onChange={(contentType) => onChange({ ...answer, contentType })}
          />
        </>
      ) : (
        <TextField
          name={`${name}.redirectTo`}
          label={text.redirectTo}
          description={text.redirectToHelp}
          value={answer.redirectTo}
          onChange={(redirectTo) => onChange({ ...answer, redirectTo })}
        />
      )}
      <TextField
        name={`${name}.status`}
        label={text.status}
        description={isText ? text.textStatusHelp : text.redirectStatusHelp}
        inputMode="numeric"
        value={answer.status}
        onChange={(status) => onChange({ ...answer, status })}
      />
    </>
  );
}
