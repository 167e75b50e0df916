; A kitchen: the pan stands on one of two burners.
; Written for adjudge; CC0 1.0. The solution stands in index.json.
(define (problem cold_pan_in_cabinet)
  (:domain alfred)
  (:objects
    agent1 - agent
    loc_0 loc_1 loc_2 loc_3 loc_4 loc_5 - location
    stoveburner_bar_2 stoveburner_bar_1 fridge_bar_1 cabinet_bar_1 countertop_bar_1 - receptacle
    pan_bar_1 pot_bar_1 mug_bar_1 cup_bar_1 knife_bar_1 - object
    CabinetType CounterTopType FridgeType MicrowaveType SinkBasinType StoveburnerType - rtype
    ButterKnifeType CupType KnifeType MugType PanType PotType - otype
  )
  (:init
    (= (total-cost) 0)
    (atLocation agent1 loc_0)
    (receptacleAtLocation stoveburner_bar_2 loc_1) (receptacleType stoveburner_bar_2 StoveburnerType)
    (receptacleAtLocation stoveburner_bar_1 loc_2) (receptacleType stoveburner_bar_1 StoveburnerType)
    (receptacleAtLocation fridge_bar_1 loc_3) (receptacleType fridge_bar_1 FridgeType) (openable fridge_bar_1)
    (receptacleAtLocation cabinet_bar_1 loc_4) (receptacleType cabinet_bar_1 CabinetType) (openable cabinet_bar_1)
    (receptacleAtLocation countertop_bar_1 loc_5) (receptacleType countertop_bar_1 CounterTopType)
    (inReceptacle pan_bar_1 stoveburner_bar_2) (objectAtLocation pan_bar_1 loc_1) (objectType pan_bar_1 PanType) (pickupable pan_bar_1) (cleanable pan_bar_1) (coolable pan_bar_1)
    (inReceptacle pot_bar_1 stoveburner_bar_1) (objectAtLocation pot_bar_1 loc_2) (objectType pot_bar_1 PotType) (pickupable pot_bar_1)
    (inReceptacle mug_bar_1 fridge_bar_1) (objectAtLocation mug_bar_1 loc_3) (objectType mug_bar_1 MugType) (pickupable mug_bar_1) (cleanable mug_bar_1) (heatable mug_bar_1) (coolable mug_bar_1)
    (inReceptacle cup_bar_1 cabinet_bar_1) (objectAtLocation cup_bar_1 loc_4) (objectType cup_bar_1 CupType) (pickupable cup_bar_1) (cleanable cup_bar_1) (heatable cup_bar_1) (coolable cup_bar_1)
    (inReceptacle knife_bar_1 countertop_bar_1) (objectAtLocation knife_bar_1 loc_5) (objectType knife_bar_1 KnifeType) (pickupable knife_bar_1)
    (canContain CabinetType CupType) (canContain CabinetType KnifeType) (canContain CabinetType MugType) (canContain CabinetType PanType) (canContain CabinetType PotType)
    (canContain CounterTopType CupType) (canContain CounterTopType KnifeType) (canContain CounterTopType MugType) (canContain CounterTopType PanType) (canContain CounterTopType PotType)
    (canContain FridgeType CupType) (canContain FridgeType KnifeType) (canContain FridgeType MugType) (canContain FridgeType PanType) (canContain FridgeType PotType)
    (canContain StoveburnerType CupType) (canContain StoveburnerType KnifeType) (canContain StoveburnerType MugType) (canContain StoveburnerType PanType) (canContain StoveburnerType PotType)
  )
  (:goal (exists (?o - object ?r - receptacle)
    (and (objectType ?o PanType) (receptacleType ?r CabinetType) (inReceptacle ?o ?r) (coolable ?o) (isCool ?o))))
  (:metric minimize (total-cost))
)
