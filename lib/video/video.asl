{
  "Comment": "Brings one video to its end. Its input is a video's id and nothing else, because an execution's history keeps whatever passes through it. No step begins anything at a vendor.",
  "QueryLanguage": "JSONPath",
  "StartAt": "FirstWait",
  "TimeoutSeconds": ${HoldSeconds},
  "States": {
    "FirstWait": { "Type": "Wait", "Seconds": ${FirstWaitSeconds}, "Next": "Poll" },
    "Poll": {
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "poll", "videoId.$": "$.videoId" },
      "ResultPath": "$.poll",
      "TimeoutSeconds": 60,
      "Retry": [
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${RetrySeconds},
          "BackoffRate": 2,
          "MaxDelaySeconds": 60,
          "MaxAttempts": 6
        }
      ],
      "Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Pause" }],
      "Next": "Choose"
    },
    "Choose": {
      "Comment": "The age of a video is looked at only where it would wait again: one that is ready late is delivered.",
      "Type": "Choice",
      "Choices": [
        { "Variable": "$.poll.outcome", "StringEquals": "succeeded", "Next": "Store" },
        { "Variable": "$.poll.outcome", "StringEquals": "failed", "Next": "Release" },
        { "Variable": "$.poll.outcome", "StringEquals": "ended", "Next": "Done" },
        { "Variable": "$.poll.elapsedSeconds", "NumericGreaterThanEquals": ${LimitSeconds}, "Next": "Release" }
      ],
      "Default": "Wait"
    },
    "Wait": { "Type": "Wait", "SecondsPath": "$.poll.waitSeconds", "Next": "Poll" },
    "Pause": {
      "Comment": "Our own stores do not answer, which is no fault of the video's: the vendor goes on with it.",
      "Type": "Wait",
      "Seconds": 60,
      "Next": "Poll"
    },
    "Store": {
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "store", "videoId.$": "$.videoId" },
      "ResultPath": null,
      "TimeoutSeconds": 150,
      "Retry": [
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${RetrySeconds},
          "BackoffRate": 2,
          "MaxDelaySeconds": 60,
          "MaxAttempts": 8
        }
      ],
      "Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Release" }],
      "Next": "Charge"
    },
    "Charge": {
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "charge", "videoId.$": "$.videoId" },
      "ResultPath": null,
      "TimeoutSeconds": 30,
      "Retry": [
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${RetrySeconds},
          "BackoffRate": 2,
          "MaxDelaySeconds": 60,
          "MaxAttempts": 6
        }
      ],
      "Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Release" }],
      "Next": "Finish"
    },
    "Finish": {
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "finish", "videoId.$": "$.videoId" },
      "ResultPath": "$.ended",
      "TimeoutSeconds": 30,
      "Retry": [
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${RetrySeconds},
          "BackoffRate": 2,
          "MaxDelaySeconds": 60,
          "MaxAttempts": 6
        }
      ],
      "Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Release" }],
      "Next": "Told"
    },
    "Release": {
      "Comment": "Has no way out: where it fails for good the execution fails, and the rule on failed executions calls this step again.",
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "release", "videoId.$": "$.videoId" },
      "ResultPath": "$.ended",
      "TimeoutSeconds": 30,
      "Retry": [
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${RetrySeconds},
          "BackoffRate": 2,
          "MaxDelaySeconds": 60,
          "MaxAttempts": 6
        }
      ],
      "Next": "Told"
    },
    "Told": {
      "Type": "Choice",
      "Choices": [{ "Variable": "$.ended.webhook", "BooleanEquals": true, "Next": "Notify" }],
      "Default": "Done"
    },
    "Notify": {
      "Comment": "Nothing depends on it, so it may try for longer than the hold lives.",
      "Type": "Task",
      "Resource": "${StepFunctionArn}",
      "Parameters": { "step": "notify", "videoId.$": "$.videoId" },
      "ResultPath": null,
      "TimeoutSeconds": 60,
      "Retry": [
        {
          "ErrorEquals": ["States.ALL"],
          "IntervalSeconds": ${WebhookRetrySeconds},
          "BackoffRate": 3,
          "MaxDelaySeconds": 3600,
          "MaxAttempts": 4,
          "JitterStrategy": "FULL"
        }
      ],
      "Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Done" }],
      "Next": "Done"
    },
    "Done": { "Type": "Succeed" }
  }
}
