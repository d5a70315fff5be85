/** A field for the error id of a request to a host without a share. */
import { Button, Group, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { Panel } from '../../parts/page-title.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

export function UnroutedQuestion(): ReactNode {
  const text = useText(meshText);
  const navigate = useNavigate();
  const [id, setId] = useState('');
  const errorId = id.trim();
  return (
    <Panel title={text.explainUnrouted}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (errorId !== '') void navigate({ to: '/mesh/failures/$errorId', params: { errorId } });
        }}
      >
        <Group align="end">
          <TextInput
            label={text.errorId}
            value={id}
            onChange={({ currentTarget }) => setId(currentTarget.value)}
          />
          <Button type="submit" disabled={errorId === ''}>
            {text.find}
          </Button>
        </Group>
      </form>
    </Panel>
  );
}
