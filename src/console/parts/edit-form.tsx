/**
 * A form over a resource that others can change, too: it reports their changes, and what was typed stays until the person saves
 * it or gives it up.
 */
import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { isApiError } from '../api/api-error.ts';
import { useText } from '../text/language.tsx';
import { Form } from './form.tsx';
import { partsText } from './parts-text.ts';
import type { FormEdit } from './use-edit.ts';

/** The change that the form sends. */
export interface SentChange {
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly isSuccess: boolean;
  reset(): void;
}

export function EditForm(props: {
  readonly edit: FormEdit;
  readonly change: SentChange;
  /** An error of the form's own, instead of that of the change. */
  readonly error?: Error | null | undefined;
  /** Names of the fields whose messages appear at the fields. */
  readonly fields: readonly string[];
  readonly submit: string;
  readonly isDisabled?: boolean;
  /** Shown when the change was saved. */
  readonly saved?: string;
  readonly onSubmit: () => void;
  readonly onCancel?: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const text = useText(partsText);
  const { edit, change } = props;
  const ways = {
    onLoad: () => void edit.loadNew().then(() => change.reset()),
    onKeep: () => void edit.keepTyped().then(() => change.reset()),
  };
  const error = props.error ?? change.error;
  return (
    <>
      {edit.isOutdated && !change.isPending && !isApiError(error, 412) ? (
        <Group mb="md" role="status">
          <span className="fd-warn">{text.changedWhileTyping}</span>
          <WaysOn {...ways} />
        </Group>
      ) : null}
      <Form
        fields={props.fields}
        error={error}
        isPending={change.isPending}
        hasInput={edit.isTyped}
        isDisabled={!edit.isTyped || props.isDisabled === true}
        submit={props.submit}
        onSubmit={props.onSubmit}
        onCancel={props.onCancel}
        staleWays={<WaysOn {...ways} />}
      >
        {props.children}
      </Form>
      <p role="status" className="fd-soft">
        {change.isSuccess && !edit.isTyped ? (props.saved ?? text.saved) : null}
      </p>
    </>
  );
}

function WaysOn(props: { readonly onLoad: () => void; readonly onKeep: () => void }): ReactNode {
  const text = useText(partsText);
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" onClick={props.onKeep}>
        {text.keepTyped}
      </Button>
      <Button size="xs" variant="default" onClick={props.onLoad}>
        {text.loadNew}
      </Button>
    </Group>
  );
}
