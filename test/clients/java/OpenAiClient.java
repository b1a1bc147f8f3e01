import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.ObjectMappers;
import com.openai.errors.BadRequestException;
import com.openai.errors.InternalServerException;
import com.openai.errors.OpenAIServiceException;
import com.openai.errors.RateLimitException;
import com.openai.errors.UnauthorizedException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionContentPart;
import com.openai.models.chat.completions.ChatCompletionContentPartImage;
import com.openai.models.chat.completions.ChatCompletionContentPartText;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.chat.completions.ChatCompletionMessageToolCall;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.embeddings.CreateEmbeddingResponse;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.images.ImageGenerateParams;
import com.openai.models.responses.EasyInputMessage;
import com.openai.models.responses.FunctionTool;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseFunctionToolCall;
import com.openai.models.responses.ResponseIncludable;
import com.openai.models.responses.ResponseInputImage;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseOutputItem;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Reads scenarios from stdin and writes a result for each. A scenario fails if it throws. Needs Java 11. */
public final class OpenAiClient {
    static final String GATEWAY_URL = System.getenv("GATEWAY_URL");
    static final String GATEWAY_KEY = System.getenv("GATEWAY_KEY");

    // set-up
    static final OpenAIClient client =
            OpenAIOkHttpClient.builder().baseUrl(GATEWAY_URL + "/v1").apiKey(GATEWAY_KEY).build();

    static ChatCompletion stream(ChatCompletionCreateParams.Builder request) {
        // The accumulator needs the usage in a chunk of its own, and throws otherwise.
        request.streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build());
        ChatCompletionAccumulator accumulator = ChatCompletionAccumulator.create();
        try (var chunks = client.chat().completions().createStreaming(request.build())) {
            chunks.stream().forEach(accumulator::accumulate);
        }
        return accumulator.chatCompletion();
    }
    // end

    static final ObjectMapper json = new ObjectMapper();

    // Material of the scenarios. The simulated providers call the first tool with the city that the prompt names.
    static final String HELLO = "Say hello.";
    static final String WEATHER =
            Optional.ofNullable(System.getenv("WEATHER_PROMPT")).orElse("What is the weather in Paris?");
    static final List<String> TURNS = List.of("One.", "Two.", "Three.");
    /** A PNG of one pixel. */
    static final String PNG_URL = "data:image/png;base64,"
            + "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    static final String TOOL_NAME = "get_weather";
    static final String TOOL_DESCRIPTION = "Current weather of a city";
    static final Map<String, JsonValue> TOOL_PARAMETERS = Map.of(
            "type", JsonValue.from("object"),
            "properties", JsonValue.from(Map.of("city", Map.of("type", "string"))),
            "required", JsonValue.from(List.of("city")),
            "additionalProperties", JsonValue.from(false));

    static final class Job {
        public String scenario;
        public String route;
        public String model;
        public String key = GATEWAY_KEY;
    }

    public static final class Person {
        public String name;
        public int age;
    }

    public static void main(String[] args) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(json.writeValueAsString(run(json.readValue(line, Job.class))));
        }
        System.exit(0);
    }

    static ObjectNode run(Job job) {
        ObjectNode report = json.createObjectNode();
        try {
            Scenario scenario = SCENARIOS.get(job.route + " " + job.scenario);
            if (ERRORS.containsKey(job.scenario)) runError(job);
            else if (scenario != null) scenario.run(job);
            else throw new AssertionError("The program lacks this scenario.");
            return report.put("ok", true);
        } catch (Exception | AssertionError error) {
            error.printStackTrace();
            if (error instanceof OpenAIServiceException) {
                report.put("status", ((OpenAIServiceException) error).statusCode());
            }
            return report.put("ok", false).put("error", String.valueOf(error));
        }
    }

    interface Scenario {
        void run(Job job) throws Exception;
    }

    static final Map<String, Scenario> SCENARIOS = Map.ofEntries(
            Map.entry("chat plain", job -> checkUsed(complete(chat(job).addUserMessage(HELLO)))),
            Map.entry("chat stream", job -> checkUsed(stream(chat(job).addUserMessage(HELLO)))),
            Map.entry("chat tools", job -> chatTools(job, false)),
            Map.entry("chat tools_dump", job -> chatTools(job, true)),
            Map.entry("chat structured", OpenAiClient::chatStructured),
            Map.entry("chat image", OpenAiClient::chatImage),
            Map.entry("chat turns", OpenAiClient::chatTurns),
            Map.entry("responses plain", job -> checkUsed(respond(response(job).input(HELLO)))),
            Map.entry("responses stream", OpenAiClient::responsesStream),
            Map.entry("responses tools", job -> responsesTools(job, false)),
            Map.entry("responses tools_dump", job -> responsesTools(job, true)),
            Map.entry("responses structured", OpenAiClient::responsesStructured),
            Map.entry("responses image", OpenAiClient::responsesImage),
            Map.entry("responses turns", OpenAiClient::responsesTurns),
            Map.entry("embeddings plain", OpenAiClient::embeddings),
            Map.entry("images plain", OpenAiClient::images));

    static void check(boolean isRight, Object seen) {
        if (!isRight) throw new AssertionError("not as expected: " + seen);
    }

    static String runTool(String callArguments) throws Exception {
        return "Sunny in " + json.readTree(callArguments).get("city").asText() + ", 21 degrees";
    }

    static final Map<String, String> ERROR_PROMPTS = Map.of(
            "error_401", HELLO,
            "error_402", HELLO,
            "error_429", "[[status 429 retry-after 1]] Say hello.",
            "error_500", "[[status 500]] Say hello.",
            "error_context", "word ".repeat(1_100_000));

    static final Map<String, Predicate<OpenAIServiceException>> ERRORS = Map.of(
            "error_401", error -> error instanceof UnauthorizedException,
            "error_402", error -> error.statusCode() == 402,
            "error_429",
                    error -> error instanceof RateLimitException && !error.headers().values("retry-after").isEmpty(),
            "error_500", error -> error instanceof InternalServerException,
            "error_context",
                    error -> error instanceof BadRequestException
                            && error.code().equals(Optional.of("context_length_exceeded")));

    static void runError(Job job) {
        OpenAIClient caller = client.withOptions(options -> options.apiKey(job.key));
        String prompt = ERROR_PROMPTS.get(job.scenario);
        try {
            if (job.route.equals("chat")) {
                caller.chat().completions().create(chat(job).addUserMessage(prompt).build());
            } else {
                caller.responses().create(response(job).input(prompt).build());
            }
        } catch (OpenAIServiceException error) {
            if (!ERRORS.get(job.scenario).test(error)) throw error;
            return;
        }
        throw new AssertionError("no error");
    }

    // Chat completions

    static ChatCompletionCreateParams.Builder chat(Job job) {
        return ChatCompletionCreateParams.builder().model(job.model);
    }

    static ChatCompletion complete(ChatCompletionCreateParams.Builder request) {
        return client.chat().completions().create(request.build());
    }

    static ChatCompletionMessage messageOf(ChatCompletion completion) {
        return completion.choices().get(0).message();
    }

    static void checkText(ChatCompletion completion) {
        String text = messageOf(completion).content().orElse("");
        check(!text.isEmpty(), completion);
    }

    static void checkUsed(ChatCompletion completion) {
        checkText(completion);
        check(completion.choices().get(0).finishReason().equals(ChatCompletion.Choice.FinishReason.STOP), completion);
        check(completion.usage().map(usage -> usage.totalTokens() > 0).orElse(false), completion.usage());
    }

    static void chatTools(Job job, boolean dump) throws Exception {
        var request = chat(job).addUserMessage(WEATHER).addFunctionTool(FunctionDefinition.builder()
                .name(TOOL_NAME)
                .description(TOOL_DESCRIPTION)
                .parameters(FunctionParameters.builder().additionalProperties(TOOL_PARAMETERS).build())
                .strict(true)
                .build());
        ChatCompletion completion = complete(request);
        while (messageOf(completion).toolCalls().map(calls -> !calls.isEmpty()).orElse(false)) {
            ChatCompletionMessage message = messageOf(completion);
            request.addMessage(dump ? reread(message, ChatCompletionMessage.class) : message);
            for (ChatCompletionMessageToolCall toolCall : message.toolCalls().get()) {
                ChatCompletionMessageFunctionToolCall call = toolCall.asFunction();
                request.addMessage(ChatCompletionToolMessageParam.builder()
                        .toolCallId(call.id())
                        .content(runTool(call.function().arguments()))
                        .build());
            }
            completion = complete(request);
        }
        check(messageOf(completion).content().orElse("").contains("Sunny in Paris"), completion);
    }

    /** Writes a value as the SDK's JSON and reads it again, as a program that stores its history. */
    static <T> T reread(Object value, Class<T> type) throws Exception {
        ObjectMapper stored = ObjectMappers.jsonMapper();
        return stored.readValue(stored.writeValueAsString(value), type);
    }

    static void chatStructured(Job job) {
        var request = chat(job).addUserMessage("Give me a person.").responseFormat(Person.class).build();
        Person person = client.chat().completions().create(request).choices().get(0).message().content().get();
        check(person.name != null, person.name);
    }

    static void chatImage(Job job) {
        var text = ChatCompletionContentPartText.builder().text("What do you see?").build();
        var url = ChatCompletionContentPartImage.ImageUrl.builder().url(PNG_URL).build();
        var image = ChatCompletionContentPartImage.builder().imageUrl(url).build();
        checkText(complete(chat(job).addUserMessageOfArrayOfContentParts(
                List.of(ChatCompletionContentPart.ofText(text), ChatCompletionContentPart.ofImageUrl(image)))));
    }

    static void chatTurns(Job job) {
        var request = chat(job);
        for (String prompt : TURNS) {
            ChatCompletion completion = complete(request.addUserMessage(prompt));
            checkText(completion);
            request.addMessage(messageOf(completion));
        }
    }

    // Responses

    static ResponseCreateParams.Builder response(Job job) {
        return ResponseCreateParams.builder().model(job.model).store(false);
    }

    static Response respond(ResponseCreateParams.Builder request) {
        return client.responses().create(request.build());
    }

    static String textOf(Response response) {
        return response.output().stream()
                .flatMap(item -> item.message().stream())
                .flatMap(message -> message.content().stream())
                .flatMap(content -> content.outputText().stream())
                .map(text -> text.text())
                .collect(Collectors.joining());
    }

    static void checkUsed(Response response) {
        check(!textOf(response).isEmpty(), response);
        check(response.usage().map(usage -> usage.totalTokens() > 0).orElse(false), response.usage());
    }

    static void responsesStream(Job job) {
        ResponseAccumulator accumulator = ResponseAccumulator.create();
        AtomicInteger pieces = new AtomicInteger();
        try (var events = client.responses().createStreaming(response(job).input(HELLO).build())) {
            events.stream().peek(accumulator::accumulate).forEach(event -> {
                if (event.isOutputTextDelta()) pieces.incrementAndGet();
            });
        }
        check(pieces.get() > 1, pieces);
        checkUsed(accumulator.response());
    }

    static ResponseInputItem user(String prompt) {
        return ResponseInputItem.ofEasyInputMessage(
                EasyInputMessage.builder().role(EasyInputMessage.Role.USER).content(prompt).build());
    }

    static ResponseInputItem toInput(ResponseOutputItem item, boolean dump) throws Exception {
        if (dump) return reread(item, ResponseInputItem.class);
        if (item.isFunctionCall()) return ResponseInputItem.ofFunctionCall(item.asFunctionCall());
        if (item.isReasoning()) return ResponseInputItem.ofReasoning(item.asReasoning());
        return ResponseInputItem.ofResponseOutputMessage(item.asMessage());
    }

    static void responsesTools(Job job, boolean dump) throws Exception {
        FunctionTool tool = FunctionTool.builder()
                .name(TOOL_NAME)
                .description(TOOL_DESCRIPTION)
                .parameters(FunctionTool.Parameters.builder().additionalProperties(TOOL_PARAMETERS).build())
                .strict(true)
                .build();
        var request = response(job).addTool(tool).addInclude(ResponseIncludable.REASONING_ENCRYPTED_CONTENT);
        List<ResponseInputItem> history = new ArrayList<>(List.of(user(WEATHER)));
        Response response = respond(request.inputOfResponse(history));
        while (response.output().stream().anyMatch(ResponseOutputItem::isFunctionCall)) {
            for (ResponseOutputItem item : response.output()) {
                history.add(toInput(item, dump));
                if (!item.isFunctionCall()) continue;
                ResponseFunctionToolCall call = item.asFunctionCall();
                history.add(ResponseInputItem.ofFunctionCallOutput(ResponseInputItem.FunctionCallOutput.builder()
                        .callId(call.callId())
                        .output(runTool(call.arguments()))
                        .build()));
            }
            response = respond(request.inputOfResponse(history));
        }
        check(textOf(response).contains("Sunny in Paris"), response);
    }

    static void responsesStructured(Job job) {
        var request = response(job).input("Give me a person.").text(Person.class).build();
        Person person = client.responses().create(request).output().stream()
                .flatMap(item -> item.message().stream())
                .flatMap(message -> message.content().stream())
                .flatMap(content -> content.outputText().stream())
                .findFirst()
                .get();
        check(person.name != null, person.name);
    }

    static void responsesImage(Job job) {
        var image = ResponseInputImage.builder().imageUrl(PNG_URL).detail(ResponseInputImage.Detail.AUTO).build();
        var message = ResponseInputItem.Message.builder()
                .role(ResponseInputItem.Message.Role.USER)
                .addInputTextContent("What do you see?")
                .addContent(image)
                .build();
        checkUsed(respond(response(job).inputOfResponse(List.of(ResponseInputItem.ofMessage(message)))));
    }

    static void responsesTurns(Job job) throws Exception {
        List<ResponseInputItem> history = new ArrayList<>();
        for (String prompt : TURNS) {
            history.add(user(prompt));
            Response response = respond(response(job).inputOfResponse(history));
            checkUsed(response);
            for (ResponseOutputItem item : response.output()) history.add(toInput(item, false));
        }
    }

    // Embeddings and images

    static void embeddings(Job job) {
        var request = EmbeddingCreateParams.builder().model(job.model).input(HELLO).build();
        CreateEmbeddingResponse response = client.embeddings().create(request);
        check(!response.data().get(0).embedding().isEmpty(), response);
        check(response.usage().totalTokens() > 0, response.usage());
    }

    static void images(Job job) {
        var request = ImageGenerateParams.builder().model(job.model).prompt("A red square").build();
        var image = client.images().generate(request).data().get().get(0);
        check(image.b64Json().or(image::url).isPresent(), image);
    }
}
