/** Inspects the state of connected routers. */
import { Button, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { useText } from '../../text/language.tsx';
import { Inspection } from './inspection.tsx';
import { meshText } from './mesh-text.ts';
import { RouterChoice } from './router-choice.tsx';

export function InspectPage(): ReactNode {
  const text = useText(meshText);
  const control = useSearchState();
  const [typed, setTyped] = useState('links');
  const [asked, setAsked] = useState<{ readonly names: readonly string[]; readonly round: number }>();
  const routerId = control.textOf('routerId');
  const names = typed.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  return (
    <>
      <PageTitle title={text.inspect} />
      <Panel>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            setAsked({ names, round: (asked?.round ?? 0) + 1 });
          }}
        >
          <div className="fd-filters">
            <RouterChoice
              value={routerId}
              none={text.everyRouter}
              onChange={(id) => control.change({ routerId: id }, { replace: true })}
            />
            <TextInput
              label={text.inspectNames}
              description={text.inspectHint}
              value={typed}
              onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            />
            <Button type="submit" disabled={names.length === 0}>
              {text.inspect}
            </Button>
          </div>
        </form>
      </Panel>
      {asked === undefined ? null : (
        <Inspection {...asked} routerId={routerId === '' ? undefined : routerId} />
      )}
    </>
  );
}
