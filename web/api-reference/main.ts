import SwaggerUI, { type Component, type System } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import './style.css';

const node = document.getElementById('reference');
if (!node) throw new Error('the page has no place for the reference');

const darkness = matchMedia('(prefers-color-scheme: dark)');
const follow = (): void => {
  document.documentElement.classList.toggle('dark-mode', darkness.matches);
};
darkness.addEventListener('change', follow);
follow();

/** Omits empty form fields unless the user checks their box. By default, the viewer would check the box itself. */
const emptyFieldsAreLeftOut = () => ({
  wrapComponents: {
    ParameterIncludeEmpty:
      (original: Component, { React }: System): Component =>
      (props) =>
        React.createElement(original, {
          ...props,
          isIncludedOptions: { ...Object(props.isIncludedOptions), defaultValue: false },
        }),
  },
});

/** All requests go to this origin. No key is stored, and no service validates the description. */
SwaggerUI({
  url: '/api-reference/openapi.json',
  domNode: node,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelRendering: 'example',
  displayOperationId: false,
  displayRequestDuration: true,
  filter: true,
  plugins: [emptyFieldsAreLeftOut],
  persistAuthorization: false,
  queryConfigEnabled: false,
  tryItOutEnabled: false,
  validatorUrl: null,
});
