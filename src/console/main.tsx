/** The entry of the browser program. */
import { MantineProvider } from '@mantine/core';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { fetchFilesWhenIdle } from './api/later-files.ts';
import { newProgram, ProgramProvider } from './api/program.tsx';
import { newQueryClient } from './api/queries.ts';
import { styleNonce } from './place.ts';
import { router } from './routes.tsx';
import './styles.ts';
import { LanguageProvider } from './text/language.tsx';
import { cssVariables, theme } from './theme.ts';

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <ProgramProvider program={newProgram(newQueryClient())}>
        <LanguageProvider>
          <RouterProvider router={router} />
        </LanguageProvider>
      </ProgramProvider>
    </MantineProvider>
  </StrictMode>,
);

fetchFilesWhenIdle();
