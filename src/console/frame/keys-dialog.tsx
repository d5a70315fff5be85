/** The list of keys, and the switch for those without Ctrl. */
import { Kbd, Switch, Table } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useSession } from '../api/session.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';
import { useCurrentFrontdoor } from './frontdoor.tsx';
import { areLetterKeysOn, setLetterKeys } from './keys.ts';
import { navigationOf } from './navigation.ts';

export function KeysDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const text = useText(frameText);
  const [areOn, setOn] = useState(areLetterKeysOn);
  const entries = navigationOf(useSession(), useCurrentFrontdoor()).flatMap((group) => group.entries);
  const rows: readonly (readonly [readonly string[], string])[] = [
    [['Ctrl', 'K'], text.keySearch],
    [['?'], text.keyHelp],
    [['Esc'], text.keyClose],
    ...entries.map(({ key, label }) => [['g', key], text.keyGo(text[label])] as const),
  ];
  return (
    <Dialog title={text.keys} isOpen onClose={onClose} size="md" closesOutside>
      <Table>
        <Table.Tbody>
          {rows.map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td>
                {keys.map((key) => (
                  <Kbd key={key} me="xs">
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Switch
        mt="md"
        label={text.letterKeys}
        description={text.letterKeysHint}
        checked={areOn}
        onChange={({ currentTarget }) => {
          setLetterKeys(currentTarget.checked);
          setOn(currentTarget.checked);
        }}
      />
    </Dialog>
  );
}
