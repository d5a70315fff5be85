/**
 * Refreshes lists once the page of a deleted resource is gone from the screen: earlier, the page would ask for what no longer
 * exists. Returns the function that a deletion calls when it has succeeded.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { dropUnsavedInput } from '../parts/unsaved.ts';
import { refreshKind } from './queries.ts';

export function useRefreshOnLeave(kind: string): () => void {
  const client = useQueryClient();
  const isDeleted = useRef(false);
  useEffect(
    () => () => {
      if (isDeleted.current) refreshKind(client, kind);
    },
    [client, kind],
  );
  return useCallback(() => {
    isDeleted.current = true;
    dropUnsavedInput();
  }, []);
}
