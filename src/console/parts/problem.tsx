/** A failed request: a sentence, the error id, and a way on. */
import { Alert, Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiError } from '../api/api-error.ts';
import { useFormat, useText } from '../text/language.tsx';
import type { Format } from '../text/format.ts';
import { ApiText } from './api-text.tsx';
import { partsText } from './parts-text.ts';

type PartsText = (typeof partsText)['en'];

const SECOND_MS = 1_000;

/** The sentence for an error: the API's own where it has one that helps, else ours. */
export function sentenceOf(error: Error, text: PartsText, format: Format): string {
  if (!(error instanceof ApiError)) return error.message === '' ? text.unexpected : error.message;
  const { status, message, code } = error;
  if (status === 0) return code === 'no_answer' ? text.noAnswer : text.notReached;
  if (status === 403 && message === '') return text.forbidden;
  if (status === 404 && message === '') return text.notFound;
  if (status === 412) return text.changedMeanwhile;
  if (status === 429) return text.tooMany(format.duration((error.retryAfterSeconds ?? 1) * SECOND_MS));
  if (status === 503) return message === '' ? text.unavailable : `${message}.`;
  if (status >= 500) return text.internal;
  if (message === '') return status === 409 ? text.conflict : text.unexpected;
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** Whether `sentenceOf` is the sentence of the API. */
function isOfApi(error: Error): error is ApiError {
  if (!(error instanceof ApiError) || error.message === '') return false;
  const { status } = error;
  return status === 503 || (status >= 400 && status < 500 && status !== 412 && status !== 429);
}

export function Problem(props: {
  readonly error: Error;
  /** Tries again, or loads the new state. */
  readonly onAgain?: (() => void) | undefined;
  /** Other ways on, instead. */
  readonly ways?: ReactNode;
}): ReactNode {
  const [text, format] = [useText(partsText), useFormat()];
  const { error, onAgain, ways } = props;
  const id = error instanceof ApiError ? error.errorId : undefined;
  const isStale = error instanceof ApiError && error.status === 412;
  return (
    <Alert color="red" variant="outline" role="alert" mb="md" className="fd-problem">
      <p style={{ margin: 0 }}>
        {isOfApi(error) ? (
          <ApiText code={error.code} kind="refusal" keepsOriginal>
            {sentenceOf(error, text, format)}
          </ApiText>
        ) : (
          sentenceOf(error, text, format)
        )}
      </p>
      {id === undefined ? null : <p className="fd-mono fd-small">{text.errorId(id)}</p>}
      {onAgain === undefined && ways === undefined ? null : (
        <Group mt="sm">
          {ways ?? (
            <Button size="xs" variant="default" onClick={onAgain}>
              {isStale ? text.loadNew : text.tryAgain}
            </Button>
          )}
        </Group>
      )}
    </Alert>
  );
}
