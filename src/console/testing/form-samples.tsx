/** Fields and forms of the style page: as they are at first, with a message at a field, and with one about the whole. */
import { Button, NativeSelect, Radio, Switch, Textarea } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ApiError } from '../api/api-error.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { ConfirmDialog, Dialog } from '../parts/dialog.tsx';
import { EntryList } from '../parts/entry-list.tsx';
import { FlagField } from '../parts/flag-field.tsx';
import { Form } from '../parts/form.tsx';
import { Panel } from '../parts/page-title.tsx';
import { LinesField, TextField } from '../parts/text-field.tsx';

const AT_FIELD = new ApiError(400, 'invalid', 'Invalid value for target: not an address');
const STALE = new ApiError(412, 'precondition_failed', '');

export function FormSamples(): ReactNode {
  return (
    <div className="fd-beside">
      <Panel title="Form">
        <SampleForm error={null} />
      </Panel>
      <Panel title="Form with a message at a field">
        <SampleForm error={AT_FIELD} />
      </Panel>
      <Panel title="Form that someone else has overtaken">
        <SampleForm error={STALE} />
      </Panel>
      <Panel title="Values and dialogs">
        <CopyText value="https://app.example.com" href="https://app.example.com" />
        <CodeBlock label="Command" code="frontdoor share http://127.0.0.1:3000 --name app" />
        <Dialogs />
      </Panel>
    </div>
  );
}

function SampleForm({ error }: { readonly error: Error | null }): ReactNode {
  const [target, setTarget] = useState('http://127.0.0.1:3000');
  const [isOn, setOn] = useState(true);
  const [lines, setLines] = useState('192.0.2.0/24\n198.51.100.7');
  const [entries, setEntries] = useState<readonly string[]>(['X-Team: web']);
  return (
    <Form fields={['target']} error={error} isPending={false} submit="Save" onSubmit={() => undefined}>
      <TextField
        name="target"
        label="Service address"
        description="As the agent reaches it"
        value={target}
        onChange={setTarget}
      />
      <FlagField name="flag" label="Send the original host" value={isOn} onChange={setOn} />
      <LinesField name="lines" label="Allowed networks, one a line" value={lines} onChange={setLines} />
      <NativeSelect mb="md" label="Agent" data={['laptop', 'server']} />
      <Radio.Group mb="md" label="Mode" defaultValue="http">
        <Radio value="http" label="HTTP" mb="xs" />
        <Radio value="tcp" label="TCP" />
      </Radio.Group>
      <Switch mb="md" label="Enabled" defaultChecked />
      <Textarea mb="md" label="Note" defaultValue="Text of several lines" />
      <EntryList
        name="headers"
        legend="Headers"
        help="Sent with each request"
        entries={entries}
        nameOf={(_entry, at) => `Header ${at + 1}`}
        add="Add a header"
        remove={(name) => `Remove ${name}`}
        newEntry={() => ''}
        onChange={setEntries}
      >
        {(entry, { path, onChange }) => (
          <TextField name={path} label="Header" value={entry} onChange={onChange} />
        )}
      </EntryList>
    </Form>
  );
}

function Dialogs(): ReactNode {
  const [open, setOpen] = useState<'dialog' | 'question'>();
  const close = () => setOpen(undefined);
  return (
    <>
      <Button variant="default" mt="md" onClick={() => setOpen('dialog')}>
        Open a dialog
      </Button>{' '}
      <Button variant="default" mt="md" onClick={() => setOpen('question')}>
        Open a question
      </Button>
      <Dialog title="A dialog" isOpen={open === 'dialog'} onClose={close}>
        <p>Something to read, or a form.</p>
      </Dialog>
      <ConfirmDialog
        title="Delete app"
        isOpen={open === 'question'}
        onClose={close}
        action="Delete"
        typed="app"
        isPending={false}
        error={null}
        onConfirm={close}
      >
        <p>The address stops working at once. This cannot be undone.</p>
      </ConfirmDialog>
    </>
  );
}
