/** Answers of the API in components: cached, asked for again when the stream of changes reports a change. */
import {
  QueryClient,
  keepPreviousData,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useState } from 'react';
import type { OperationId } from '#contract';
import { noteSaved } from '../parts/unsaved.ts';
import { isApiError } from './api-error.ts';
import type { AnsweredCall, CallInput } from './call.ts';
import { answersOf } from './kind-table.ts';
import { useProgram } from './program.tsx';

const MAX_RETRIES = 2;

export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // A browser that calls itself offline may reach a control plane of this machine; else the page says that it does not.
        networkMode: 'always',
        // The stream of changes reports what is stale.
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        retry: (count, error) => count < MAX_RETRIES && isApiError(error, 0, 503),
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}

export interface AnswerOptions {
  /** Measured values that no event reports are asked for again so often. */
  readonly refetchMs?: number | undefined;
  readonly enabled?: boolean | undefined;
}

/** The answer of an operation that reads. Earlier pages and filters stay on the screen until the new answer is there. */
export function useAnswer<Id extends OperationId>(
  id: Id,
  input: CallInput<Id>,
  { refetchMs, enabled = true }: AnswerOptions = {},
): UseQueryResult<AnsweredCall<Id>> {
  const { api } = useProgram();
  return useQuery({
    queryKey: [id, input.parameters ?? null, input.query ?? null],
    queryFn: ({ signal }) => api.call(id, { ...input, signal }),
    placeholderData: keepPreviousData,
    enabled,
    ...(refetchMs === undefined ? {} : { refetchInterval: refetchMs, refetchIntervalInBackground: false }),
  });
}

/**
 * An operation that changes something. Answers on the screen are asked for again afterwards, without waiting for the stream, and
 * also when the change was refused because of someone else's.
 */
export function useChange<Id extends OperationId>(
  id: Id,
  {
    onDone,
    refreshes = [],
  }: { readonly onDone?: (answer: AnsweredCall<Id>) => void; readonly refreshes?: readonly string[] } = {},
): UseMutationResult<AnsweredCall<Id>, Error, CallInput<Id>> {
  const client = useQueryClient();
  const { api } = useProgram();
  return useMutation({
    mutationFn: (input: CallInput<Id>) => api.call(id, input),
    onSuccess: (answer) => {
      noteSaved();
      for (const kind of refreshes) refreshKind(client, kind);
      onDone?.(answer);
    },
    onError: (error) => {
      if (!isApiError(error, 412)) return;
      for (const kind of refreshes) refreshKind(client, kind);
    },
  });
}

/** A key for a creation that one form sends, however often it is repeated. */
export function useIdempotencyKey(): string {
  const [key] = useState(() => crypto.randomUUID());
  return key;
}

/** Asks again for the answers on the screen that show resources of this kind, and marks the others as stale. */
export function refreshKind(client: QueryClient, kind: string): void {
  const answers = answersOf(kind);
  void client.invalidateQueries(
    answers === undefined ? {} : { predicate: ({ queryKey }) => answers.has(String(queryKey[0])) },
  );
}
