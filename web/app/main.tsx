import './style.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { takeOpening } from './init-data.ts';
import { applyTheme } from './theme.ts';

const opening = takeOpening(window);
applyTheme(window, opening.theme);

const root = document.getElementById('app');
if (root) render(<App opening={opening} />, root);
