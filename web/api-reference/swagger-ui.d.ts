/** The package has no types of its own. https://swagger.io/docs/open-source-tools/swagger-ui/usage/configuration/ */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  export type Component = (props: Readonly<Record<string, unknown>>) => unknown;
  export interface System {
    readonly React: { createElement(component: Component, props: object): unknown };
  }
  interface Plugin {
    readonly wrapComponents: Readonly<Record<string, (original: Component, system: System) => Component>>;
  }
  interface Options {
    readonly url: string;
    readonly domNode: HTMLElement;
    readonly deepLinking: boolean;
    readonly docExpansion: 'list' | 'full' | 'none';
    readonly defaultModelsExpandDepth: number;
    readonly defaultModelRendering: 'example' | 'model';
    readonly displayOperationId: boolean;
    readonly displayRequestDuration: boolean;
    readonly filter: boolean;
    readonly plugins: readonly (() => Plugin)[];
    readonly persistAuthorization: boolean;
    readonly queryConfigEnabled: boolean;
    readonly tryItOutEnabled: boolean;
    readonly validatorUrl: null;
  }
  const SwaggerUI: (options: Options) => unknown;
  export default SwaggerUI;
}
