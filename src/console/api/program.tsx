/** What the start of the program makes, and its components use. */
import { QueryClientProvider, type QueryClient } from '@tanstack/react-query';
import { createContext, useContext, type ReactNode } from 'react';
import { Api } from './call.ts';
import { Changes } from './changes.ts';

export interface Program {
  readonly api: Api;
  readonly changes: Changes;
  readonly queryClient: QueryClient;
  /** The one instance of a class that files which are loaded later bring. */
  partOf<T extends object>(Part: new () => T): T;
}

export function newProgram(queryClient: QueryClient): Program {
  const api = new Api();
  const parts = new Map<unknown, unknown>();
  return {
    api,
    changes: new Changes(api, queryClient),
    queryClient,
    partOf: <T extends object>(Part: new () => T) => {
      const part = (parts.get(Part) as T | undefined) ?? new Part();
      parts.set(Part, part);
      return part;
    },
  };
}

const ProgramContext = createContext<Program | undefined>(undefined);

export function ProgramProvider(props: {
  readonly program: Program;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <ProgramContext value={props.program}>
      <QueryClientProvider client={props.program.queryClient}>{props.children}</QueryClientProvider>
    </ProgramContext>
  );
}

export function useProgram(): Program {
  const program = useContext(ProgramContext);
  if (program === undefined) throw new Error('no ProgramProvider');
  return program;
}
