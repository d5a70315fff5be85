/**
 * Forms. The API checks the values: its message about a property appears at the field of that name, any other message above
 * the form. The typed values stay until the change is saved.
 */
import { Button, Group } from '@mantine/core';
import { createContext, useContext, useEffect, useRef, type FormEvent, type ReactNode } from 'react';
import { ApiError } from '../api/api-error.ts';
import { useFormat, useText } from '../text/language.tsx';
import { partsText } from './parts-text.ts';
import { Problem, sentenceOf } from './problem.tsx';
import { useUnsavedInput } from './unsaved.ts';

const FormErrorContext = createContext<Error | null>(null);

/**
 * The message for the field of this name, for `error` of the input. A field has the messages about parts of its value, too,
 * unless `isExact`: then these parts are fields themselves.
 */
export function useFieldError(name: string, isExact: boolean = false): string | undefined {
  const [error, text, format] = [useContext(FormErrorContext), useText(partsText), useFormat()];
  if (!(error instanceof ApiError) || error.status !== 400) return undefined;
  const { field } = error;
  if (field === undefined) return undefined;
  const isPart = field.startsWith(`${name}.`) || field.startsWith(`${name}[`);
  const isOwn = field === name || (isPart && !isExact);
  return isOwn ? sentenceOf(error, text, format) : undefined;
}

export function Form(props: {
  /** Names of the fields whose messages appear at the fields. */
  readonly fields: readonly string[];
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly submit: string;
  readonly onSubmit: () => void;
  readonly onCancel?: (() => void) | undefined;
  /** The text of the button for `onCancel`. */
  readonly cancel?: string | undefined;
  /** Ways on after someone else's change was refused to be overwritten. */
  readonly staleWays?: ReactNode;
  readonly isDisabled?: boolean | undefined;
  /** Whether there is input to lose, where the form cannot know it: of an edit, and never of a question, which saves nothing. */
  readonly hasInput?: boolean | undefined;
  readonly children: ReactNode;
}): ReactNode {
  const text = useText(partsText);
  const { error, fields } = props;
  const field = error instanceof ApiError && error.status === 400 ? error.field : undefined;
  const isAtField =
    field !== undefined &&
    fields.some((name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`));
  const form = useRef<HTMLFormElement>(null);
  // The field may be far from the button, and screen readers read the message with the field.
  useEffect(() => {
    if (isAtField) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error, isAtField]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (!props.isPending) props.onSubmit();
  };
  const isStale = error instanceof ApiError && error.status === 412;
  const unsaved = useUnsavedInput(props.isPending, props.hasInput);
  const cancel = () => {
    unsaved.drop();
    props.onCancel?.();
  };
  return (
    <FormErrorContext value={error}>
      <form
        ref={form}
        onSubmit={submit}
        onChange={props.hasInput === undefined ? unsaved.note : undefined}
        noValidate
      >
        {error === null || isAtField ? null : (
          <Problem error={error} ways={isStale ? props.staleWays : undefined} />
        )}
        {props.children}
        <Group justify="flex-end" mt="lg">
          {props.onCancel === undefined ? null : (
            <Button variant="default" onClick={cancel}>
              {props.cancel ?? text.cancel}
            </Button>
          )}
          <Button type="submit" loading={props.isPending} disabled={props.isDisabled === true}>
            {props.submit}
          </Button>
        </Group>
      </form>
    </FormErrorContext>
  );
}
